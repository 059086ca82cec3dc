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
  if (entry.observation.updated && !entry.command) step(steps, "Event changed in Google", Date.parse(entry.observation.updated));
  const received = madeAt(entry.trace);
  if (Number.isFinite(received)) step(steps, receivedAs(entry), received);
  step(steps, entry.command ? "Poll changed" : "Read, decided and applied", Date.parse(entry.at));
  steps.at(-1).changes = true;
  step(steps, "In the app", delivered.app, withoutAnnouncement(entry, delivered, "nobody was notified"));
  step(steps, "On Discord", delivered.discord, withoutAnnouncement(entry, delivered, "no message"));
  step(steps, "On this page", shown, "page opened later");
  return steps;
}

function step(steps, name, at, missing = "") {
  steps.push({ name, at: Number.isFinite(at) ? at : undefined, missing });
}

function receivedAs(entry) {
  if (entry.command) return "A person asked";
  const names = {
    push: "Push from Google received", person: "A person asked for a check", relink: "Account linked or checked",
  };
  return names[entry.hint] ?? "The server began by itself";
}

function withoutAnnouncement(entry, delivered, otherwise) {
  if (!entry.announcement) return "nothing to announce";
  return delivered.over ? otherwise : "on its way";
}

// spans gives each step that took place its place on the time axis in per cent, a bar
// since the step that it followed, and a label; total is the length of the axis in
// milliseconds. What comes after the poll was changed does not wait for each other.
export function spans(steps) {
  const times = steps.flatMap(({ at }) => at ?? []);
  const first = Math.min(...times);
  const total = Math.max(Math.max(...times) - first, 1);
  const share = (at) => ((at - first) / total) * 100;
  const changed = steps.findIndex(({ changes }) => changes);
  let before = first;
  const placed = steps.map((step, i) => {
    if (step.at === undefined) return step;
    const [from, to] = [Math.min(before, step.at), Math.max(before, step.at)];
    if (i <= changed) before = step.at;
    return { ...step, from: share(from), width: share(to) - share(from), at: share(step.at), label: i === 0 ? "start" : `+${took(step.at - first)}` };
  });
  return { total, placed };
}
