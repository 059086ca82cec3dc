// Times as Discord shows them, in the reader's own time zone and in English.
const format = (options) => new Intl.DateTimeFormat("en-GB", options);

const styles = {
  t: format({ timeStyle: "short" }),
  T: format({ timeStyle: "medium" }),
  d: format({ day: "2-digit", month: "2-digit", year: "numeric" }),
  D: format({ dateStyle: "long" }),
  f: format({ dateStyle: "long", timeStyle: "short" }),
  F: format({ dateStyle: "full", timeStyle: "short" }),
};
const full = format({ dateStyle: "full", timeStyle: "long" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const units = [["year", 31_536_000], ["month", 2_592_000], ["week", 604_800], ["day", 86_400], ["hour", 3_600], ["minute", 60]];

// inStyle formats a date by a letter of Discord's <t:…:X>; R is the distance from now.
export function inStyle(date, style) {
  return style === "R" ? ago(date) : (styles[style] ?? styles.f).format(date);
}

// inFull is a date with its time zone, for tooltips.
export function inFull(date) { return full.format(date); }

// ago is how far a date is from now in words: "in 5 days", "2 minutes ago". Seconds
// are not counted, so that a page that refreshes does not tick.
export function ago(date) {
  const seconds = (date - Date.now()) / 1000;
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? [];
  return unit ? relative.format(Math.round(seconds / length), unit) : seconds > 0 ? "in a moment" : "just now";
}

// stamp is when a message was posted: the time today, the date with it before.
export function stamp(date) {
  const today = new Date().toDateString() === date.toDateString();
  return today ? `Today at ${styles.t.format(date)}` : `${styles.d.format(date)} ${styles.t.format(date)}`;
}
