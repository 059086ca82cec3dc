import { minutesBetween } from "./week_times.js";

// Events is what the page knows of the game master's events. Google tells no more than
// the id of a deleted event, so the page remembers what it was, to show it struck
// through and to offer its return for as long as the page is open.
export class Events {
  constructor() {
    this.known = new Map(); // by id: as last read, with deleted
    this.hours = new Map(); // by id: {start, minutes} when it last had hours
    this.held = new Map(); // by id: times that are shown before they are written
    this.polls = new Map(); // by id: the game master's
    this.writes = 0; // counts changes by this page; a listing from before one is too old
  }

  get(id) { return this.known.get(id); }

  // shown is an event with the times that it is shown at.
  shown(id) {
    const event = this.known.get(id);
    return event && { ...event, ...this.held.get(id) };
  }

  all() { return [...this.known.keys()].map((id) => this.shown(id)); }

  // hoursOf is when an event begins and how long it is, for one that is all-day now.
  hoursOf(id) { return this.hours.get(id) ?? { start: "19:00:00", minutes: 240 }; }

  // know keeps an event as it was read.
  know(event) {
    this.known.set(event.id, event);
    if (!event.deleted && !event.allDay) this.hours.set(event.id, { start: event.start.slice(11), minutes: minutesBetween(event.start, event.end) });
  }

  hold(id, { allDay, start, end }) {
    this.held.set(id, { allDay, start, end });
    this.writes++;
  }

  release(id) {
    this.held.delete(id);
    this.writes++;
  }

  // take stores what a write answered.
  take(event) {
    this.know(event);
    this.writes++;
  }

  gone(id) {
    const event = this.known.get(id);
    if (event) this.take({ ...event, deleted: true });
  }

  // listed stores a listing of all calendars. An event that was moved to another
  // calendar is listed as deleted in the old one.
  listed(items) {
    const live = new Map(items.filter((item) => !item.deleted).map((item) => [item.id, item]));
    const deleted = new Set(items.filter((item) => item.deleted).map((item) => item.id));
    for (const [id, event] of this.known) {
      if (live.has(id) || event.deleted || this.held.has(id)) continue;
      if (deleted.has(id)) this.known.set(id, { ...event, deleted: true });
      else this.known.delete(id); // outside the listed range
    }
    for (const [id, event] of live) {
      if (!this.held.has(id)) this.know(event);
    }
  }

  // state says what an event is to its poll: "" (no poll follows it), session, moved or
  // cancelled. A copy made by hand has the poll's id too, but is not its event.
  state(event) {
    const poll = this.polls.get(event.pollID);
    if (!poll) return "";
    if (poll.status === "CANCELLED") return "cancelled";
    if (poll.google_event_id !== event.id) return "";
    return poll.original_slot ? "moved" : "session";
  }
}
