import { took } from "./journal_words.js";

// The digits of a ULID (github.com/ulid/spec), which are Crockford's base 32.
const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// madeAt is when an id such as trc_ or req_ and a ULID was made, in milliseconds: its
// first ten digits. NaN for another id.
export function madeAt(id) {
  const ulid = id?.split("_")[1] ?? "";
  if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(ulid)) return NaN;
  return [...ulid.slice(0, 10)].reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);
}

// pathOf is the way of one trigger, in its order: steps {name, at, missing}. A step
// that did not take place has no at, and missing says why. delivered has what was found
// of its announcement, shown when this page had the poll.
export function pathOf(entry, delivered, shown) {
  const steps = [];
  if (entry.observation.updated && !entry.command) step(steps, "Changed in Google", Date.parse(entry.observation.updated));
  const received = madeAt(entry.trace);
  if (Number.isFinite(received)) step(steps, receivedAs(entry), received);
  step(steps, "Poll changed", Date.parse(entry.at));
  step(steps, "In the app", delivered.app, withoutAnnouncement(entry, delivered, "nobody was notified"));
  step(steps, "On Discord", delivered.discord, withoutAnnouncement(entry, delivered, "no message"));
  step(steps, "On this page", shown, "opened later");
  return steps;
}

function step(steps, name, at, missing = "") {
  steps.push({ name, at: Number.isFinite(at) ? at : undefined, missing });
}

function receivedAs(entry) {
  if (entry.command) return "A person asked";
  const names = {
    push: "Push received", person: "A person asked for a check", relink: "Account linked or checked",
  };
  return names[entry.hint] ?? "The server checked";
}

function withoutAnnouncement(entry, delivered, otherwise) {
  if (entry.command === "finalise") return "told by the app that finalised it";
  if (!entry.announcement) return "nothing to announce";
  return delivered.over ? otherwise : "on its way";
}

// timed gives each step that took place its label, the time since the first one; total
// is the time to the last.
export function timed(steps) {
  const times = steps.flatMap(({ at }) => at ?? []);
  const first = Math.min(...times);
  const labelled = steps.map((step, i) => ({ ...step, label: step.at === undefined ? step.missing : i === 0 ? "start" : `+${took(step.at - first)}` }));
  return { total: Math.max(...times) - first, labelled };
}
