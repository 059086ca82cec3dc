import { element, button } from "./element.js";
import { timeOf } from "./poll_time.js";

const moved = "The calendar event was moved to a new time. Participant availability is hidden until the event is restored or a new poll is created.";
const paused = "Calendar sync paused. Re-link your calendar to resume.";
const linkAgain = ["token_expired", "calendar_unlinked"]; // errors that linking clears; others have a sentence

const statuses = { OPEN: "Open", FINALIZED: "Finalised", CANCELLED: "Cancelled", ARCHIVED: "Archived" };

// mustLink says whether the poll's creator must link the calendar again.
export const mustLink = (poll) => linkAgain.includes(poll.sync.error?.code);

// head is the title, the badges, and when the session is.
export function head(poll) {
  const cancelled = poll.status === "CANCELLED";
  return [
    element("h3", { id: "poll-heading", tabIndex: -1 }, element("span", { class: cancelled ? "off" : "" }, poll.title), " ", ...badges(poll)),
    element("p", { class: "when" }, ...when(poll)),
    poll.participants_hidden ? "" : element("p", { class: "soft with" }, `With ${poll.participant_ids.map((id) => called(id, poll)).join(", ")}`),
  ];
}

function called(id, poll) { return id === poll.creator_id ? `${id} (organiser)` : id; }

function badges(poll) {
  const badge = (text, look) => element("span", { class: `badge ${look}` }, text);
  const cancelled = poll.status === "CANCELLED";
  return [
    badge(statuses[poll.status], poll.status.toLowerCase()),
    ...(poll.original_slot && !cancelled ? [" ", badge("Rescheduled", "rescheduled")] : []),
  ];
}

function when(poll) {
  if (!poll.winning_slot) return [element("span", { class: "soft" }, "No time is chosen yet.")];
  const time = timeOf(poll.winning_slot);
  return [poll.status === "CANCELLED" ? element("s", {}, time) : element("strong", {}, time)];
}

// panel says that the calendar moved the session, and lets the organiser decide.
export function panel(view) {
  const { poll, session } = view;
  if (poll.status !== "FINALIZED" || !poll.original_slot) return null;
  return element("div", { class: "panel", role: "group", "aria-labelledby": "moved-title" },
    element("h4", { id: "moved-title" }, "Calendar Event Updated"),
    element("p", {}, moved),
    element("dl", {},
      element("dt", {}, "New time"), element("dd", {}, timeOf(poll.winning_slot)),
      element("dt", {}, "Original time"), element("dd", {}, timeOf(poll.original_slot))),
    session.me === poll.creator_id ? decision(view) : element("p", { class: "soft" }, `${poll.creator_id} decides which time holds.`));
}

// decision has the two buttons. The new time is accepted as this page shows it: if it
// has changed since, the server refuses.
function decision(view) {
  const path = () => `/polls/${view.poll.id}`;
  const accept = button("Accept New Time", () => view.act("You accepted the new time", () =>
    view.session.v1("POST", `${path()}/accept-new-time`, { fingerprint: accept.dataset.fingerprint })), { id: "accept-new-time" });
  accept.dataset.fingerprint = view.poll.sync.fingerprint;
  return element("div", { class: "row" },
    button("Restore Original Time", () => view.act("You restored the original time; the calendar’s event moves back", () =>
      view.session.v1("POST", `${path()}/restore-original-time`)), { id: "restore-original-time", class: "strong" }),
    accept);
}

// syncError tells the organiser why the poll does not follow its event now.
export function syncError({ poll, session }) {
  if (poll.sync.state !== "ERROR" || session.me !== poll.creator_id) return null;
  const relink = mustLink(poll);
  return element("div", { class: "panel error", role: "group", "aria-label": "Calendar sync" },
    element("p", {}, relink ? paused : poll.sync.error?.message ?? paused),
    relink ? element("p", {}, element("a", { class: "button", id: "link-again", href: session.linkAgain }, "Re-link the calendar")) : null);
}
