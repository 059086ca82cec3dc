import { followed } from "./faults_list.js";
import { took } from "./journal_words.js";

// Where what was broken is kept while the visitor links an account on Google's page.
const kept = "broken";

// Recovery follows what was broken until poll and calendar agree again:
//
//   armed      nothing shows so far
//   broken     the poll does not show what the calendar says
//   recovered  it does again; took says how long that was
export class Recovery {
  constructor(session) {
    this.session = session;
    this.broken = JSON.parse(sessionStorage.getItem(kept) ?? "{}"); // by fault: {since, phase, took}
    this.link = null; // the event of the poll, also after a cancellation has unlinked it
  }

  // begin says that a fault was planted now, in milliseconds of the demo's clock.
  begin(id, since) { this.broken[id] = { since, phase: "armed" }; this.keep(); }
  end() { this.broken = {}; this.keep(); }
  keep() { sessionStorage.setItem(kept, JSON.stringify(this.broken)); }

  // check compares poll and calendar, and moves on what was broken.
  async check(now) {
    const poll = await this.session.v1("GET", `/polls/${followed(this.session)}`, undefined, "gm");
    if (poll.google_event_id) this.link = { poll: poll.id, calendar: poll.google_calendar_id, event: poll.google_event_id };
    if (this.link?.poll !== poll.id) return null;
    const event = await this.event();
    const state = { poll, event, agree: agree(poll, event) };
    for (const one of Object.values(this.broken)) proceed(one, state, now);
    this.keep();
    return state;
  }

  async event() {
    const { calendar, event } = this.link;
    try {
      return await this.session.google("GET", `/calendars/${encodeURIComponent(calendar)}/events/${encodeURIComponent(event)}`);
    } catch (problem) {
      if (problem.status === 404 || problem.status === 410) return { status: "cancelled" };
      throw problem;
    }
  }
}

function proceed(one, { poll, event, agree }, now) {
  if (one.phase === "recovered") return;
  const changed = Math.max(one.since, Date.parse(event.updated) || one.since);
  if (!agree) {
    one.phase = "broken";
    return;
  }
  const moved = changed > one.since;
  if (one.phase === "armed" && !moved) return;
  const agreed = Date.parse(poll.updated_at);
  one.phase = "recovered";
  one.took = took((agreed >= changed ? agreed : now) - changed);
}

function agree(poll, event) {
  if (poll.sync.state === "ERROR") return false;
  if (event.status === "cancelled") return poll.status === "CANCELLED";
  const slot = poll.winning_slot;
  if (poll.status !== "FINALIZED" || !slot) return false;
  if (slot.all_day) return slot.start.slice(0, 10) === event.start.date && slot.end.slice(0, 10) === event.end.date;
  return Date.parse(slot.start) === Date.parse(event.start.dateTime) && Date.parse(slot.end) === Date.parse(event.end.dateTime);
}

// recoveryWords says how a fault stands. left is how often it strikes yet.
export function recoveryWords(fault, one, left) {
  const times = left === undefined ? "" : `Armed: ${left === 1 ? "once" : `${left} times`} more. `;
  switch (one?.phase) {
    case "armed": return times + (fault.moved ? "Now move the session." : "");
    case "broken": return `${times}The poll does not agree with the calendar now.`;
    case "recovered": return `${times}Recovered after ${one.took}.`;
    default: return times;
  }
}
