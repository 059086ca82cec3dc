import { shifted, spoken, timed, wholeDay } from "./week_times.js";

// pause is how long arrow keys must rest before the move is written, in milliseconds:
// a person who moves an event by two hours makes one change, not four.
const pause = 400;

// Keys moves the focused event. What is pressed is shown at once.
export class Keys {
  constructor(events, acts, changed) {
    Object.assign(this, { events, acts, changed });
    this.waiting = new Map(); // by id: {timer, verb}
  }

  // press says whether the key meant something to the event.
  press(id, key, shift) {
    const event = this.events.shown(id);
    if (!event || event.deleted) return false;
    if (key === "Delete" || key === "Backspace") {
      this.flush(id);
      this.acts.bring(id, `You deleted “${event.title}”.`, { deleted: true });
      return true;
    }
    const to = this.changedTimes(event, key, shift);
    if (!to) return false;
    this.later(event, to, shift ? "changed the length of" : "moved");
    return true;
  }

  // changedTimes is where a key takes an event, or null for a key without a meaning.
  changedTimes(event, key, shift) {
    if (key.toLowerCase() === "a" && !shift) return this.toggled(event);
    const unit = event.allDay ? 1440 : 30;
    const by = { ArrowUp: -unit, ArrowDown: unit, ArrowLeft: shift ? 0 : -1440, ArrowRight: shift ? 0 : 1440 }[key];
    if (!by) return null;
    const end = shifted(event.end, by);
    if (shift) return end > event.start ? { allDay: event.allDay, start: event.start, end } : null;
    return { allDay: event.allDay, start: shifted(event.start, by), end };
  }

  // toggled makes an event all-day, or gives it back the hours that it had.
  toggled(event) {
    if (!event.allDay) return wholeDay(event);
    const { start, minutes } = this.events.hoursOf(event.id);
    return timed(`${event.start}T${start}`, minutes);
  }

  // later shows an event at new times, and writes them when the keys rest.
  later(event, to, verb) {
    clearTimeout(this.waiting.get(event.id)?.timer);
    this.events.hold(event.id, to);
    this.waiting.set(event.id, { verb, timer: setTimeout(() => this.flush(event.id), pause) });
    this.changed();
  }

  // flush writes what keys have changed.
  flush(id) {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    this.waiting.delete(id);
    const event = this.events.shown(id);
    if (event) this.acts.bring(id, `You ${waiting.verb} “${event.title}”: ${spoken(event)}.`, event);
  }

  flushAll() { for (const id of [...this.waiting.keys()]) this.flush(id); }
}
