import { timesBody } from "./week_times.js";
import { zoneName } from "./zone.js";

// newCalendar is the name of a second calendar that an event can be moved to.
export const newCalendar = "Side quests";

// Google is the game master's calendars as their owner sees and changes them.
export class Google {
  constructor(session) {
    this.session = session;
    this.calendars = []; // {id, name, primary}
    this.zone = zoneName();
  }

  // load reads which calendars there are.
  async load() {
    const { items } = await this.session.google("GET", "/users/me/calendarList");
    this.calendars = items
      .filter((entry) => ["owner", "writer"].includes(entry.accessRole))
      .map((entry) => ({ id: entry.id, name: entry.primary ? "Own calendar" : entry.summary, primary: Boolean(entry.primary) }));
  }

  get primary() { return this.calendars.find((calendar) => calendar.primary)?.id ?? this.session.organiser.calendar_id; }

  // list gives the events of all calendars from one date to another. Of a deleted event
  // Google tells its id and no more, so those have {id, calendar, deleted} alone.
  async list(from, to) {
    const query = new URLSearchParams({
      singleEvents: true, showDeleted: true, maxResults: 250, timeZone: this.zone, timeMin: `${from}T00:00:00Z`, timeMax: `${to}T23:59:59Z`,
    });
    const lists = this.calendars.map(async ({ id }) => {
      const { items } = await this.session.google("GET", `${eventsOf(id)}?${query}`);
      return items.map((item) => read(item, id));
    });
    return (await Promise.all(lists)).flat();
  }

  async patch(event, fields) {
    const body = {};
    if (fields.title !== undefined) body.summary = fields.title;
    if (fields.start !== undefined) Object.assign(body, timesBody(fields, this.zone));
    return this.written("PATCH", event, body, event.etag);
  }

  async remove(event) {
    await this.session.google("DELETE", pathOf(event), undefined, this.session.organiser, event.etag);
  }

  // revive brings a deleted event back as it was.
  revive(event) { return this.written("PATCH", event, { status: "confirmed" }); }

  async insert({ title, calendar, ...times }) {
    const item = await this.session.google("POST", eventsOf(calendar), { summary: title, ...timesBody(times, this.zone) });
    return read(item, calendar);
  }

  async move(event, calendar) {
    const item = await this.session.google("POST", `${pathOf(event)}/move?destination=${encodeURIComponent(calendar)}`);
    return read(item, calendar);
  }

  // makeCalendar makes the second calendar and gives its id.
  async makeCalendar() {
    const { id } = await this.session.google("POST", "/calendars", { summary: newCalendar, timeZone: this.zone });
    await this.load();
    return id;
  }

  async written(method, event, body, etag) {
    const item = await this.session.google(method, pathOf(event), body, this.session.organiser, etag);
    return read(item, event.calendar);
  }
}

const eventsOf = (calendar) => `/calendars/${encodeURIComponent(calendar)}/events`;
const pathOf = (event) => `${eventsOf(event.calendar)}/${encodeURIComponent(event.id)}`;

function read(item, calendar) {
  if (item.status === "cancelled") return { id: item.id, calendar, deleted: true };
  return {
    id: item.id, calendar, deleted: false, etag: item.etag,
    title: item.summary || "(no title)",
    allDay: Boolean(item.start.date),
    start: item.start.date ?? item.start.dateTime.slice(0, 19),
    end: item.end.date ?? item.end.dateTime.slice(0, 19),
    instance: Boolean(item.recurringEventId),
    pollID: item.extendedProperties?.private?.questschedulerPoll ?? "",
  };
}
