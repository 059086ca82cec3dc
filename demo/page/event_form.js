import { button, element, field } from "./element.js";
import { newCalendar } from "./week_google.js";
import { shifted, spoken, timed } from "./week_times.js";

const makeOne = "new"; // the choice of a calendar that does not exist yet

// EventForm changes an event in a dialog: its title, times and calendar. The last day
// of an all-day event is shown, where Google has the day after it.
export class EventForm {
  constructor(body, google, events, acts) {
    Object.assign(this, { google, events, acts });
    this.title = element("input", { id: "event-title", required: true, maxLength: 200 });
    this.allDay = element("input", { id: "event-all-day", type: "checkbox" });
    this.start = element("input", { id: "event-start", required: true });
    this.end = element("input", { id: "event-end", required: true });
    this.calendar = element("select", { id: "event-calendar" });
    this.allDay.addEventListener("change", () => this.showTimes(this.times()));
    for (const input of [this.start, this.end]) input.addEventListener("input", () => this.end.setCustomValidity(""));
    this.remover = button("Delete", () => this.remove(), { id: "event-delete" });
    const form = element("form", { class: "event-form" },
      element("h3", { id: "event-form-title" }, "Event"),
      field("Title", this.title), element("label", { class: "row" }, this.allDay, "All day"),
      field("Start", this.start), field("End", this.end), field("Calendar", this.calendar),
      element("div", { class: "row" }, element("button", { type: "submit", id: "event-save" }, "Save"),
        this.remover, button("Close", () => this.dialog.close(), { id: "event-close" })));
    form.addEventListener("submit", (event) => { event.preventDefault(); this.save(); });
    this.dialog = element("dialog", { id: "event-form", "aria-labelledby": "event-form-title" }, form);
    this.dialog.addEventListener("close", () => this.back());
    body.append(this.dialog);
  }

  open(id) { this.show(this.events.shown(id)); }

  // draft offers an event that is made when it is saved, and not when the dialog is left.
  draft(event) { this.show({ ...event, id: "" }); }

  show(event) {
    this.id = event.id;
    this.remover.hidden = !this.id;
    this.title.value = event.title;
    this.showTimes(event);
    const choices = this.google.calendars.map(({ id: value, name }) => element("option", { value }, name));
    if (!this.google.calendars.some(({ name }) => name === newCalendar)) choices.push(element("option", { value: makeOne }, `${newCalendar} (new)`));
    this.calendar.replaceChildren(...choices);
    this.calendar.value = event.calendar;
    this.calendar.disabled = event.instance; // Google moves a series as a whole
    this.dialog.showModal();
    this.title.select();
  }

  // showTimes fills the fields for start and end with times of either kind.
  showTimes({ allDay, start, end }) {
    this.allDay.checked = allDay;
    for (const input of [this.start, this.end]) input.type = allDay ? "date" : "datetime-local";
    this.start.value = allDay ? start : start.slice(0, 16);
    this.end.value = allDay ? shifted(end, -1440) : end.slice(0, 16);
  }

  // times are those of the fields, of the kind that is chosen; fields of the other kind
  // are converted.
  times() {
    const allDay = this.allDay.checked;
    const [start, end] = [this.start.value, this.end.value];
    if (allDay) return { allDay, start: start.slice(0, 10), end: shifted(end.slice(0, 10), 1440) };
    if (start.length > 10) return { allDay, start: `${start.slice(0, 16)}:00`, end: `${end.slice(0, 16)}:00` };
    const hours = this.events.hoursOf(this.id);
    return timed(`${start}T${hours.start}`, hours.minutes);
  }

  async save() {
    const times = this.times();
    if (times.end <= times.start) {
      this.end.setCustomValidity("The event ends before it begins: choose a later end.");
      this.end.reportValidity();
      return;
    }
    let calendar = this.calendar.value;
    this.dialog.close();
    if (calendar === makeOne) calendar = await this.acts.do(`The calendar “${newCalendar}” is made.`, () => this.google.makeCalendar());
    if (!calendar) return;
    const wanted = { title: this.title.value.trim(), calendar, ...times };
    if (this.id) this.acts.bring(this.id, `You saved “${wanted.title}”: ${spoken(times)}.`, wanted);
    else this.acts.add(`You made “${wanted.title}”: ${spoken(times)}.`, wanted);
  }

  remove() {
    this.dialog.close();
    this.acts.bring(this.id, `You deleted “${this.title.value}”.`, { deleted: true });
  }

  // back returns the focus to the event, which may have been drawn anew since.
  back() { document.querySelector(`[data-event="${CSS.escape(this.id)}"]`)?.focus(); }
}
