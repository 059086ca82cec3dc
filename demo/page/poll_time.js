import { format } from "./zone.js";

const day = { weekday: "short", day: "numeric", month: "short" };
const clock = { hour: "2-digit", minute: "2-digit" };
const oneDay = 86_400_000;

// timeOf is a slot's time in words: "Sat 28 Nov, 19:00–23:00".
export function timeOf(slot) {
  const [start, end] = [new Date(slot.start), new Date(slot.end)];
  if (slot.all_day) return wholeDays(start, end);
  const at = format({ ...day, ...clock });
  const sameDay = format(day).format(start) === format(day).format(end);
  return `${at.format(start)}${sameDay ? "–" : " – "}${(sameDay ? format(clock) : at).format(end)}`;
}

// wholeDays are the dates of an all-day slot, which begin and end at midnight in UTC,
// whatever the zone; the end is exclusive.
function wholeDays(start, end) {
  const dates = format(day, "UTC");
  const last = new Date(end - oneDay);
  return last > start ? `${dates.format(start)} – ${dates.format(last)}, all day` : `${dates.format(start)}, all day`;
}
