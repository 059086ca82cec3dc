// Times as Discord shows them, in English. Discord's own app uses the reader's time
// zone, and this page its own.
import { format } from "./zone.js";

const styles = {
  t: { timeStyle: "short" },
  T: { timeStyle: "medium" },
  d: { day: "2-digit", month: "2-digit", year: "numeric" },
  D: { dateStyle: "long" },
  f: { dateStyle: "long", timeStyle: "short" },
  F: { dateStyle: "full", timeStyle: "short" },
};
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const units = [["year", 31_536_000], ["month", 2_592_000], ["week", 604_800], ["day", 86_400], ["hour", 3_600], ["minute", 60]];

// inStyle formats a date by a letter of Discord's <t:…:X>; R is the distance from now.
export function inStyle(date, style) {
  return style === "R" ? ago(date) : format(styles[style] ?? styles.f).format(date);
}

// inFull is a date with its time zone, for tooltips.
export function inFull(date) { return format({ dateStyle: "full", timeStyle: "long" }).format(date); }

// ago is how far a date is from now in words: "in 5 days", "2 minutes ago". Seconds
// are not counted, so that a page that refreshes does not tick.
export function ago(date) {
  const seconds = (date - Date.now()) / 1000;
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? [];
  return unit ? relative.format(Math.round(seconds / length), unit) : seconds > 0 ? "in a moment" : "just now";
}

// stamp is when a message was posted: the time today, the date with it before.
export function stamp(date) {
  const [day, clock] = [format(styles.d), format(styles.t)];
  return day.format() === day.format(date) ? `Today at ${clock.format(date)}` : `${day.format(date)} ${clock.format(date)}`;
}
