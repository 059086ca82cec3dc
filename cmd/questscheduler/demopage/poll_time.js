// Times of a poll, in its own time zone, which is named: people in several zones read
// the same text.
const day = { weekday: "short", day: "numeric", month: "short", year: "numeric" };
const clock = { hour: "2-digit", minute: "2-digit" };
const oneDay = 86_400_000;

// inZone is a slot's time in words: "Sat, 28 Nov 2026, 19:00 – 23:00".
export function inZone(slot, zone) {
  const [start, end] = [new Date(slot.start), new Date(slot.end)];
  if (slot.all_day) return wholeDays(start, end);
  const at = format({ ...day, ...clock }, zone);
  const sameDay = format(day, zone).format(start) === format(day, zone).format(end);
  return `${at.format(start)} – ${(sameDay ? format(clock, zone) : at).format(end)}`;
}

// wholeDays are the dates of an all-day slot, which begin and end at midnight in UTC,
// whatever the poll's zone; the end is exclusive.
function wholeDays(start, end) {
  const dates = format(day, "UTC");
  const last = new Date(end - oneDay);
  return last > start ? `${dates.format(start)} – ${dates.format(last)}, all day` : `${dates.format(start)}, all day`;
}

// zoneName is what the times of a poll are given in; UTC for one without a zone that
// this browser knows.
export function zoneName(zone) {
  try {
    return format({}, zone || "UTC").resolvedOptions().timeZone;
  } catch {
    return "UTC";
  }
}

function format(options, zone) {
  return new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone });
}
