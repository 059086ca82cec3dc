import { sameTimes } from "./week_times.js";

// conflicted is what a write says that was refused because of its etag (412).
const conflicted = "The event was changed elsewhere in the meantime. The week shows it as it is now; try again.";

// Acts are what the visitor does to events. Each is the state that an event is to have,
// so that an act is undone by asking for the state before it.
export class Acts {
  constructor(session, google, events, changed) {
    Object.assign(this, { session, google, events, changed });
    this.history = []; // {id, title, before}
    this.last = Promise.resolve();
  }

  // bring changes an event to wanted: some of title, times, calendar and deleted.
  bring(id, text, wanted) {
    if (wanted.start !== undefined) this.events.hold(id, wanted);
    this.changed();
    return this.do(text, async () => {
      const before = this.events.get(id);
      await this.reach(id, wanted);
      this.history.push({ id, title: before.title, before });
    }, id);
  }

  add(text, wanted) {
    return this.do(text, async () => {
      const made = await this.google.insert(wanted);
      this.events.take(made);
      this.history.push({ id: made.id, title: made.title, before: { ...made, deleted: true } });
      return made;
    });
  }

  // undo takes the last act back. What was refused can be undone again.
  undo() {
    const last = this.history.pop();
    if (!last) return;
    this.do(`You took back what you did to “${last.title}”.`, async () => {
      try {
        await this.reach(last.id, last.before);
      } catch (problem) {
        this.history.push(last);
        throw problem;
      }
    }, last.id);
  }

  // do carries acts out one after the other, because each needs the etag that the one
  // before it gave.
  do(text, work, id) {
    const result = this.last.then(() => this.session.acts(text, async () => {
      try {
        return await work();
      } catch (problem) {
        throw problem.status === 412 ? new Error(conflicted) : problem;
      } finally {
        if (id) this.events.release(id);
        this.changed();
      }
    }));
    this.last = result;
    return result;
  }

  // reach makes the calls that lead from what an event is to what it is to be.
  async reach(id, wanted) {
    const now = () => this.events.get(id);
    if (wanted.deleted && !now().deleted) {
      await this.google.remove(now());
      this.events.gone(id);
      return;
    }
    if (wanted.deleted === false && now().deleted) this.events.take(await this.google.revive(now()));
    const fields = differing(now(), wanted);
    if (fields) this.events.take(await this.google.patch(now(), fields));
    if (wanted.calendar && wanted.calendar !== now().calendar) this.events.take(await this.google.move(now(), wanted.calendar));
  }
}

// differing are the fields of a patch, or null if there is nothing to change.
function differing(now, wanted) {
  const fields = {};
  if (wanted.title !== undefined && wanted.title !== now.title) fields.title = wanted.title;
  if (wanted.start !== undefined && !sameTimes(now, wanted)) {
    Object.assign(fields, { allDay: wanted.allDay, start: wanted.start, end: wanted.end });
  }
  return Object.keys(fields).length ? fields : null;
}
