import { Acts } from "./week_acts.js";
import { EventForm } from "./event_form.js";
import { Events } from "./week_events.js";
import { Google } from "./week_google.js";
import { Keys } from "./week_keys.js";
import { contentOf, entryOf, mounted } from "./week_look.js";
import { shifted, spoken, timed } from "./week_times.js";
import { element } from "./element.js";
import { wallOf } from "./zone.js";

// dragged is where the browser keeps that the visitor has dragged an event once.
const dragged = "dragged";

// hours has labels and times of the 24-hour clock.
const hours = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };

// narrow is a screen that has no room for seven days.
const narrow = matchMedia("(max-width: 600px)");

// Week is the game master's calendar: what the page knows of it, drawn by the widget
// EventCalendar. The widget's own copies of events are never read, except where it
// says how far something was dragged.
class Week {
  constructor(body, session) {
    this.session = session;
    this.google = new Google(session);
    this.events = new Events();
    const draw = () => this.draw();
    this.acts = new Acts(session, this.google, this.events, draw);
    this.keys = new Keys(this.events, this.acts, draw);
    this.form = new EventForm(body, this.google, this.events, this.acts);
    this.drawn = new Map(); // by id: what the widget shows, as text
    this.changedOf = new Set(); // events that the widget draws anew
    this.dragging = false;
    this.crossed = ""; // the event that was dropped between the hours and the all-day row
    this.focused = ""; // the event that keys changed, which the widget draws anew
    this.box = element("div", { class: "calendar ec-auto-dark", "aria-describedby": "week-keys" });
    this.box.classList.toggle("hint", !localStorage.getItem(dragged));
    body.append(this.box);
    document.addEventListener("keydown", (event) => this.pressed(event));
    for (const name of ["keydown", "keyup"]) this.box.addEventListener(name, (event) => this.entered(event), true);
  }

  // open shows the week of the session that follows the calendar.
  async open() {
    await this.google.load();
    this.widget = EventCalendar.create(this.box, this.options());
    narrow.addEventListener("change", () => this.widget.setOption("view", viewOf()));
    this.session.on("event", (start) => this.goTo(start));
    await this.session.follow(() => this.refresh());
  }

  // goTo shows the week of a moment, from half an hour before it.
  goTo(start) {
    for (const [name, value] of Object.entries(placeOf(start))) this.widget.setOption(name, value);
  }

  options() {
    return {
      view: viewOf(), views: { fewDays: { type: "timeGridWeek", duration: { days: 3 } } },
      ...placeOf(this.session.poll?.winning_slot?.start ?? Date.now()), firstDay: 1, locale: "en-GB", height: "100%",
      slotLabelFormat: hours, eventTimeFormat: hours, editable: true, dayMaxEvents: false, dragScroll: true,
      headerToolbar: { start: "prev,next", center: "title", end: "create undo" },
      customButtons: {
        create: { text: "New", click: () => this.create(timed(`${shifted(this.range()[0], 1440)}T14:00:00`, 60)) },
        undo: { text: "Undo", click: () => { this.keys.flushAll(); this.acts.undo(); } },
      },
      eventContent: contentOf, eventDidMount: mounted, eventAllUpdated: () => this.refocus(),
      datesSet: () => this.turned(),
      dateClick: ({ dateStr, allDay }) => this.create(allDay ? { allDay, start: dateStr.slice(0, 10), end: shifted(dateStr.slice(0, 10), 1440) } : timed(dateStr.slice(0, 19), 60)),
      eventClick: ({ event }) => this.clicked(event.id),
      eventDragStart: () => { this.dragging = true; this.keys.flushAll(); },
      eventResizeStart: () => { this.dragging = true; this.keys.flushAll(); },
      eventDragStop: ({ event, jsEvent }) => this.dropped(event.id, jsEvent),
      eventResizeStop: () => { this.dragging = false; },
      eventDrop: ({ event, delta }) => this.moved(event.id, minutesOf(delta), minutesOf(delta), "moved"),
      eventResize: ({ event, endDelta }) => this.moved(event.id, 0, minutesOf(endDelta), "changed the length of"),
    };
  }

  // turned begins to show other days. The widget calls it when it begins, too.
  turned() {
    this.refresh().catch((problem) => this.session.say(problem.message, "problem"));
  }

  // range is the first day that is shown, and the day after the last.
  range() {
    const { activeStart, activeEnd } = this.widget.getView();
    return [localDate(activeStart), localDate(activeEnd)];
  }

  // refresh reads the calendars and the polls. What was read while the visitor changed
  // something is older than what the page shows, and is left.
  async refresh() {
    const { writes } = this.events;
    const [items, { polls }] = await Promise.all([this.google.list(...this.range()), this.session.v1("GET", "/polls?limit=50", undefined, "gm")]);
    if (this.dragging || writes !== this.events.writes) return;
    this.events.polls = new Map(polls.map((poll) => [poll.id, poll]));
    this.events.listed(items);
    this.draw();
  }

  // draw gives the widget what differs from what it shows.
  draw() {
    if (!this.widget) return;
    const shown = new Map(this.events.all().map((event) => [event.id, entryOf(event, this.events.state(event), this.google.calendars)]));
    for (const id of this.drawn.keys()) {
      if (!shown.has(id)) { this.widget.removeEventById(id); this.drawn.delete(id); }
    }
    for (const [id, entry] of shown) {
      const text = JSON.stringify(entry);
      if (this.drawn.get(id) === text) continue;
      if (document.activeElement?.dataset.event === id) this.focused = id;
      if (this.drawn.has(id)) this.changedOf.add(id);
      if (this.drawn.has(id)) this.widget.updateEvent(entry);
      else this.widget.addEvent(entry);
      this.drawn.set(id, text);
    }
  }

  // refocus marks events that were drawn anew, and returns the focus to the one that had it.
  refocus() {
    for (const id of this.changedOf) this.elementOf(id)?.classList.add("changed");
    this.changedOf.clear();
    const lost = !document.activeElement || document.activeElement === document.body;
    if (this.focused && lost) this.elementOf(this.focused)?.focus();
    this.focused = "";
  }

  elementOf(id) { return this.box.querySelector(`[data-event="${CSS.escape(id)}"]`); }

  // pressed takes a key for the focused event. While the widget draws that event anew
  // nothing has the focus, and quick typing must not be lost.
  pressed(event) {
    const redrawn = event.target === document.body && this.focused !== "";
    if (!redrawn && !this.box.contains(event.target)) return;
    if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.keys.flushAll();
      this.acts.undo();
      return;
    }
    const id = redrawn ? this.focused : event.target.closest("[data-event]")?.dataset.event;
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.keys.press(id, event.key, event.shiftKey)) event.preventDefault();
  }

  // entered opens an event when Enter or the space bar is released on it, instead of the
  // widget, which opens it at once: the key's other half would press a button of the dialog.
  entered(event) {
    const id = event.target.closest("[data-event]")?.dataset.event;
    if (!id || event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.type === "keyup" && this.entering === id) this.clicked(id);
    this.entering = event.type === "keydown" ? id : "";
  }

  clicked(id) {
    const event = this.events.get(id);
    if (!event) return;
    if (event.deleted) this.acts.bring(id, `You brought “${event.title}” back.`, { deleted: false });
    else this.form.open(id);
  }

  create(times) { this.form.draft({ title: "Dentist", calendar: this.google.primary, instance: false, ...times }); }

  // dropped finds out whether a drag ended across the border of the all-day row, which
  // the widget does not cross.
  dropped(id, { clientX, clientY }) {
    this.dragging = false;
    const event = this.events.shown(id);
    const place = this.widget.dateFromPoint(clientX, clientY);
    this.crossed = place && event && place.allDay !== event.allDay ? id : "";
    if (!this.crossed) return;
    const day = localDate(place.date);
    const times = place.allDay ? { allDay: true, start: day, end: shifted(day, 1440) } : timed(`${day}T${localClock(place.date)}:00`, this.events.hoursOf(id).minutes);
    this.bring(id, times, "moved");
  }

  // moved is a drag that ended: the start by some minutes, the end by some.
  moved(id, start, end, verb) {
    this.dragging = false;
    if (this.crossed === id) { this.crossed = ""; return; }
    const event = this.events.shown(id);
    if (event) this.bring(id, { allDay: event.allDay, start: shifted(event.start, start), end: shifted(event.end, end) }, verb);
  }

  bring(id, times, verb) {
    this.drawn.set(id, ""); // the widget shows what it made of the drag
    localStorage.setItem(dragged, "yes");
    this.box.classList.remove("hint");
    this.acts.bring(id, `You ${verb} “${this.events.get(id).title}”: ${spoken(times)}.`, times);
  }
}

// placeOf is which days and hours show a moment.
function placeOf(moment) {
  const wall = wallOf(moment);
  return { date: `${wall.slice(0, 10)}T00:00:00`, scrollTime: wall.slice(11) < "01" ? wall.slice(11) : shifted(wall, -30).slice(11) };
}

const viewOf = () => (narrow.matches ? "fewDays" : "timeGridWeek");

// localDate is the day of one of the widget's Dates, which are in the browser's zone.
const localDate = (date) => [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join("-");
const localClock = (date) => [date.getHours(), date.getMinutes()].map(twoDigits).join(":");
const twoDigits = (part) => String(part).padStart(2, "0");

const minutesOf = ({ days = 0, seconds = 0 }) => days * 1440 + seconds / 60;

export async function mountWeek(body, session) {
  await new Week(body, session).open();
}
