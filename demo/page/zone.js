// The page's time zone: that of the polls, or the viewer's own if the address asks for it
// (?zone=own). The calendar, the poll, the channel and the journal all use it, and the
// page names it once.
let name = "UTC";

export const ownZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;
export const zoneName = () => name;

// useZone sets the page's zone; one that this browser does not know leaves UTC.
export function useZone(wanted) {
  try {
    name = new Intl.DateTimeFormat("en-GB", { timeZone: wanted }).resolvedOptions().timeZone;
  } catch {
    name = "UTC";
  }
}

// format makes times as texts in the page's zone, or in another.
export function format(options, timeZone = name) {
  return new Intl.DateTimeFormat("en-GB", { ...options, timeZone });
}

// wallOf is a moment as a wall-clock time of the page's zone: 2026-11-28T19:00:00.
export function wallOf(moment) {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  const at = Object.fromEntries(format(parts).formatToParts(new Date(moment)).map(({ type, value }) => [type, value]));
  return `${at.year}-${at.month}-${at.day}T${at.hour}:${at.minute}:${at.second}`;
}

// momentOf is the moment of a wall-clock time of the page's zone, in milliseconds. Where
// clocks are set back, it is one of the two.
export function momentOf(wall) {
  const utc = (text) => Date.parse(`${text.slice(0, 16)}:00Z`);
  const first = utc(wall) - (utc(wallOf(utc(wall))) - utc(wall));
  return first - (utc(wallOf(first)) - utc(wall));
}
