import { element, button, mark, replace } from "./element.js";
import { ago, inFull } from "./discord_time.js";

const most = 9; // notifications that are read out at once at most; more are counted

// mountBells shows the notifications of everybody in the party. Each list is read with
// that person's own token, whoever the visitor is.
export async function mountBells(body, session) {
  const view = { session, open: "", people: new Map() };
  const bells = element("div", { class: "bells", role: "group", "aria-label": "People" });
  const list = element("div", { id: "bell-list", class: "notices" });
  const news = element("p", { class: "hidden", "aria-live": "polite" });
  body.append(bells, list, news);
  view.draw = () => {
    replace(bells, ...session.names.map((name) => bell(view, name)));
    const read = list.querySelector("ol")?.scrollTop ?? 0; // how far the visitor has read
    replace(list, ...notices(view));
    list.querySelector("ol")?.scrollTo(0, read);
    list.hidden = !view.open;
  };
  body.addEventListener("keydown", (event) => { if (event.key === "Escape" && view.open) show(view, view.open); });
  await session.follow(async () => {
    const read = await Promise.all(session.names.map(async (name) => [name, await notifications(session, name)]));
    const arrived = read.flatMap(([name, all]) => arrivals(name, view.people.get(name), all));
    view.people = new Map(read);
    if (arrived.length > 0) news.textContent = arrived.length > most ? `${arrived.length} new notifications` : arrived.map(({ text }) => text).join(" ");
    view.draw();
    for (const name of new Set(arrived.map(({ name }) => name))) mark(document.getElementById(`bell-${name}`));
  });
}

async function notifications(session, name) {
  const answer = await session.v1("GET", "/notifications?limit=50", undefined, name);
  return answer.notifications;
}

// arrivals are what a person did not have before, each {name, text} with a sentence for screen readers.
// The first answer is no news.
function arrivals(name, before, now) {
  if (!before) return [];
  const known = new Set(before.map(({ id }) => id));
  return now.filter(({ id }) => !known.has(id)).map(({ body }) => ({ name, text: `To ${name}: ${body}.` }));
}

// show opens a person's list, or closes it and gives the bell the focus back.
function show(view, name) {
  view.open = view.open === name ? "" : name;
  view.draw();
  document.getElementById(`bell-${name}`).focus({ preventScroll: true });
}

// bell is a person's button with the number of unread notifications and the newest one's text.
function bell(view, name) {
  const all = view.people.get(name);
  const unread = all.filter((notice) => !notice.read).length;
  const made = element("button", {
    type: "button", id: `bell-${name}`, class: unread > 0 ? "bell unread" : "bell", "aria-expanded": String(view.open === name), "aria-controls": "bell-list",
  },
  element("span", { class: "whose" }, `${name} `,
    element("span", { class: "count" }, String(unread)), element("span", { class: "hidden" }, " unread. ")),
  element("span", { class: "latest" }, all[0] ? gist(all[0]) : "Nothing yet"));
  made.addEventListener("click", () => show(view, name));
  return made;
}

// gist is a notification in short, the first time that it names leading, which is the
// session's new one: "Tue 1 Dec 19:00, session rescheduled".
function gist({ title, body }) {
  const [, day, date, month, clock] = /(\p{L}{3})\p{L}*, (\d+) (\p{L}{3})\p{L}* \d{4}(?:, (\d\d:\d\d))?/u.exec(body) ?? [];
  return day ? `${[day, date, month, clock].filter(Boolean).join(" ")}, ${title.toLowerCase()}` : body;
}

// notices are the open list, newest first, in a frame of fixed height.
function notices(view) {
  const name = view.open;
  if (!name) return [];
  const all = view.people.get(name);
  const mark = button("Mark all read", () => readAll(view, name), { id: "bell-read", disabled: all.every((notice) => notice.read) });
  return [
    element("div", { class: "row" }, element("h3", {}, `Notifications of ${name}`), mark),
    all.length === 0 ? element("p", { class: "soft" }, "None yet. When a session changes, everybody is notified except the person who changed it.") :
      element("ol", { tabIndex: 0, id: "bell-notices", "aria-label": `Notifications of ${name}, newest first` }, ...all.map(notice)),
  ];
}

function notice({ read, title, body, created_at: created }) {
  const at = created && new Date(created);
  return element("li", { class: read ? "" : "unread" },
    element("strong", {}, title), read ? null : element("span", { class: "hidden" }, " (unread)"),
    at ? element("time", { class: "soft", dateTime: created, title: inFull(at) }, ` ${ago(at)}`) : null,
    element("p", {}, body));
}

// readAll marks a person's notifications as read; the button is disabled by then, so
// the bell takes the focus.
async function readAll(view, name) {
  await view.session.acts(`You marked the notifications of ${name} as read`, async () => {
    await view.session.v1("POST", "/notifications/read-all", undefined, name);
    view.people.set(name, await notifications(view.session, name));
  });
  view.draw();
  if (document.activeElement === document.body) document.getElementById(`bell-${name}`).focus({ preventScroll: true });
}
