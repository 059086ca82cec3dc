// Times of an event are wall-clock times of the calendar's time zone, such as
// 2026-11-28T19:00:00, or dates such as 2026-11-28 for whole days, whose end is
// exclusive. Google takes and gives them like that, so nothing here depends on the
// browser's own time zone.

const minute = 60_000;
const day = 24 * 60 * minute;

const instant = (wall) => Date.parse(wall.length === 10 ? `${wall}T00:00:00Z` : `${wall}Z`);

// shifted is a time some minutes later, or earlier for less than 0.
export function shifted(wall, minutes) {
  return new Date(instant(wall) + minutes * minute).toISOString().slice(0, wall.length);
}

export const minutesBetween = (start, end) => (instant(end) - instant(start)) / minute;

// wholeDay is an event's times as whole days: the days that it touches.
export function wholeDay({ start, end }) {
  const last = end.length === 10 ? end : new Date(instant(end) - 1).toISOString().slice(0, 10);
  const first = start.slice(0, 10);
  return { allDay: true, start: first, end: end.length === 10 ? last : shifted(last, day / minute) };
}

// timed is so many minutes from a start.
export function timed(start, minutes) {
  return { allDay: false, start, end: shifted(start, minutes) };
}

// timesBody is an event's times as a patch of the Calendar API: what belongs to the
// other kind of event is removed.
export function timesBody({ allDay, start, end }, zone) {
  const moment = (wall) => (allDay ? { date: wall, dateTime: null, timeZone: null } : { date: null, dateTime: wall, timeZone: zone });
  return { start: moment(start), end: moment(end) };
}

const format = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const dayFormat = format({ weekday: "short", day: "numeric", month: "short" });
const longDayFormat = format({ weekday: "long", day: "numeric", month: "long" });

export const dayOf = (wall) => dayFormat.format(instant(wall));
export const longDayOf = (wall) => longDayFormat.format(instant(wall));
export const clock = (wall) => wall.slice(11, 16);

// spoken says when an event is, such as "Sat 28 Nov, 19:00–23:00".
export function spoken({ allDay, start, end }) {
  if (!allDay) return `${dayOf(start)}, ${clock(start)}–${start.slice(0, 10) === end.slice(0, 10) ? "" : `${dayOf(end)}, `}${clock(end)}`;
  const last = shifted(end, -day / minute);
  return last <= start ? `${dayOf(start)}, all day` : `${dayOf(start)} to ${dayOf(last)}, all day`;
}

export const sameTimes = (a, b) => a.allDay === b.allDay && a.start === b.start && a.end === b.end;
