import { element, button, mark } from "./element.js";
import { message, retell } from "./discord_draw.js";
import { Answers } from "./discord_answers.js";
import { mountCommand } from "./discord_command.js";

const nearEnd = 80; // pixels from the end that count as reading the newest

// mountDiscord shows the group's channel as Discord's own app does. Only messages
// that changed are drawn again, so what somebody reads or has focused stays.
export async function mountDiscord(body, session) {
  const { discord_channel_id: channelID, discord_guild_id: guildID } = session.world;
  const [channel, guild] = await Promise.all([session.discord("GET", `/channels/${channelID}`), session.discord("GET", `/guilds/${guildID}`)]);
  const list = element("div", { class: "messages", tabIndex: 0, "aria-label": `Messages in #${channel.name}` });
  const newest = button("Newest messages ↓", () => toEnd(list), { class: "newest", hidden: true });
  body.append(element("div", { class: "client" },
    element("h3", {}, element("span", { "aria-hidden": "true", class: "hash" }, "# "), channel.name, element("span", { class: "guild" }, guild.name)),
    list, newest));
  const answers = new Answers(body.querySelector(".client"), session);
  mountCommand(body.querySelector(".client"), answers);
  let follows = true; // the newest message is shown, and is to stay so
  list.addEventListener("scroll", () => { follows = atEnd(list); newest.hidden = follows; });
  new ResizeObserver(() => { if (follows) toEnd(list); }).observe(list);

  const context = contextOf(session, guild, answers);
  await session.follow(async () => {
    const posted = await session.discord("GET", `/channels/${channelID}/messages?limit=50`);
    update(list, posted.reverse(), context);
    if (follows) toEnd(list);
    newest.hidden = follows;
    list.setAttribute("role", "log"); // only now, so that the first messages are not read out
  });
}

function atEnd(list) { return list.scrollHeight - list.scrollTop - list.clientHeight < nearEnd; }
function toEnd(list) { list.scrollTop = list.scrollHeight; }

// contextOf is what messages of a guild need to be drawn: names, and what their
// links and buttons do in this page, which shows polls in place of the web app.
function contextOf(session, guild, answers) {
  const show = (pollID) => {
    session.choose(pollID);
    document.getElementById("poll-heading")?.focus();
    return true;
  };
  const pollPage = `${session.world.api}/scheduler/`;
  answers.context = {
    role: (id) => guild.roles.find((role) => role.id === id)?.name ?? "unknown-role",
    user: (posted, id) => posted.mentions.find((user) => user.id === id)?.username ?? "unknown-user",
    open: (url) => url.startsWith(pollPage) && show(url.slice(pollPage.length).split(/[?#]/)[0]),
    press: (posted, customID) => answers.press(posted.id, customID),
  };
  return answers.context;
}

// update makes the list show these messages, oldest first. New ones are the last: ids
// grow. Only these are read out; earlier ones are no live regions any more.
function update(list, posted, context) {
  for (const child of list.children) child.setAttribute("aria-live", "off");
  const gone = new Map([...list.children].map((child) => [child.dataset.id, child]));
  for (const item of posted) {
    const old = gone.get(item.id);
    gone.delete(item.id);
    if (old?.dataset.version === String(item.edited_timestamp)) continue;
    const drawn = message(item, context);
    if (old) exchange(old, drawn);
    else list.append(drawn);
    if (list.role) mark(old ?? drawn); // not the first messages
  }
  for (const node of gone.values()) node.remove();
  retell(list);
}

// exchange keeps the element of an edited message and gives it the new content.
function exchange(old, next) {
  const focused = [...old.querySelectorAll("a, button")].indexOf(document.activeElement);
  old.dataset.version = next.dataset.version;
  old.className = next.className;
  old.replaceChildren(...next.childNodes);
  if (focused >= 0) old.querySelectorAll("a, button")[focused]?.focus({ preventScroll: true });
}
