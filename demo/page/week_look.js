import { element } from "./element.js";
import { clock, longDayOf, shifted } from "./week_times.js";

const stateWords = { session: "session", moved: "moved", cancelled: "cancelled" };
const spokenStates = { session: "session of a poll", moved: "session of a poll, moved", cancelled: "its session is cancelled" };

// entryOf is an event as the calendar widget takes it. Its key differs for whatever
// the widget shows.
export function entryOf(event, state, calendars) {
  const calendar = calendars.find((one) => one.id === event.calendar);
  const place = calendar && !calendar.primary ? calendar.name : "";
  const kind = state || (place ? "elsewhere" : "own");
  return {
    id: event.id, start: event.start, end: event.end, allDay: event.allDay, title: event.title,
    startEditable: !event.deleted, durationEditable: !event.deleted,
    classNames: [`event-${kind}`, event.deleted ? "event-deleted" : ""].filter(Boolean),
    extendedProps: { state, place, deleted: event.deleted, name: nameOf(event, state, place) },
  };
}

// nameOf is what screen readers say of an event.
function nameOf(event, state, place) {
  const when = event.allDay
    ? `${longDayOf(event.start)}${shifted(event.end, -1440) > event.start ? ` to ${longDayOf(shifted(event.end, -1440))}` : ""}, all day`
    : `${longDayOf(event.start)}, ${clock(event.start)} to ${clock(event.end)}`;
  const status = event.deleted ? "deleted: press Enter to undo" : spokenStates[state];
  return [event.title, when, status, place && `calendar ${place}`].filter(Boolean).join(", ");
}

// hour is the clock of one of the widget's Dates, which are in the browser's zone.
const hour = (date) => date.toTimeString().slice(0, 5);

// contentOf is what stands in an event, also while it is dragged. The widget's own text of
// its time ends at midnight.
export function contentOf({ event }) {
  const { state, place, deleted } = event.extendedProps;
  const tag = deleted ? "deleted · Undo" : stateWords[state] ?? place;
  return {
    domNodes: [
      element("span", { class: "ec-event-title" }, event.title),
      event.allDay ? "" : element("span", { class: "ec-event-time" }, `${hour(event.start)}–${hour(event.end)}`),
      tag ? element("span", { class: "event-tag" }, tag) : "",
      state && !deleted ? element("span", { class: "event-hint", "aria-hidden": "true" }, "drag me") : "",
    ],
  };
}

// mounted names the element of an event for screen readers, keys and tests. The widget
// makes a new element whenever an event changes.
export function mounted({ el, event }) {
  el.dataset.event = event.id;
  el.setAttribute("aria-label", event.extendedProps.name ?? event.title);
}
