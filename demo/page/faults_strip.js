import { element, replaceMarked } from "./element.js";
import { timeOf } from "./poll_time.js";
import { mustLink } from "./poll_head.js";

// showStrip says above everything else what calendar and poll say, while something is
// broken or was: green if they agree, amber if not. state is what Recovery found.
export function showStrip(session, recovery, state) {
  const strip = document.getElementById("strip");
  const broken = state && (Object.keys(recovery.broken).length > 0 || mustLink(state.poll));
  strip.hidden = !broken;
  if (!broken) return;
  const { poll, event, agree } = state;
  strip.dataset.agree = agree ? "yes" : "no";
  replaceMarked(strip, poll.id, `Calendar says ${ofEvent(event)} · Poll says ${ofPoll(poll)}`,
    mustLink(poll) ? element("a", { id: "link-strip", href: session.linkAgain }, "Link again") : "");
}

function ofEvent({ status, start, end }) {
  if (status === "cancelled") return "deleted";
  return timeOf({ all_day: Boolean(start.date), start: start.dateTime ?? start.date, end: end.dateTime ?? end.date });
}

function ofPoll({ status, sync, winning_slot: slot }) {
  const time = status === "FINALIZED" && slot ? timeOf(slot) : status.toLowerCase();
  return sync.state === "ERROR" ? `${time} (paused)` : time;
}
