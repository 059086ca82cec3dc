import { element, replace } from "./element.js";
import { decisionWords, reasonWords, took, triggerWords } from "./journal_words.js";
import { pathOf, spans } from "./journal_path.js";
import { Arrivals, Deliveries, clockAhead } from "./journal_sources.js";

// How many entries the table has.
const listed = 10;

// mountJournal shows the way of the chosen poll's last trigger in milliseconds, and its
// latest journal entries below.
export async function mountJournal(body, session) {
  const arrivals = new Arrivals(session);
  const deliveries = new Deliveries(session);
  const path = element("div", { class: "path" });
  const table = element("div", { class: "entries", role: "region", "aria-label": "Latest journal entries", tabIndex: 0 });
  body.append(path, table);
  await session.follow(async () => {
    const ahead = await clockAhead(session);
    // Only its creator reads a journal, so it is always read as the game master.
    const { entries } = await session.v1("GET", `/polls/${session.pollID}/journal?limit=${listed}`, undefined, "gm");
    if (entries.length === 0) {
      replace(path, element("p", { class: "soft" }, "Nothing was decided about this poll so far."));
      replace(table);
      return;
    }
    const [last] = entries;
    const steps = pathOf(last, await deliveries.of(last, ahead), arrivals.of(last, ahead));
    replace(path, ...drawPath(last, steps));
    replace(table, drawTable(entries));
  });
}

function drawPath(entry, steps) {
  const { total, placed } = spans(steps);
  const reason = reasonWords(entry);
  return [
    element("p", {}, element("strong", {}, decisionWords(entry)), reason ? ` (${reason})` : "", ` after: ${triggerWords(entry)}. `,
      element("span", { class: "total" }, `Together ${took(total)}.`)),
    element("ol", { class: "steps" }, ...placed.map(drawStep)),
  ];
}

function drawStep(step) {
  if (step.at === undefined) {
    return element("li", { class: "missing" }, element("span", { class: "name" }, step.name), element("span", { class: "track" }), element("span", { class: "when" }, step.missing));
  }
  const bar = element("span", { class: "bar" });
  bar.style.left = `${step.from.toFixed(2)}%`;
  bar.style.width = `${step.width.toFixed(2)}%`;
  const dot = element("span", { class: "dot" });
  dot.style.left = `${step.at.toFixed(2)}%`;
  return element("li", {}, element("span", { class: "name" }, step.name), element("span", { class: "track", "aria-hidden": "true" }, bar, dot), element("span", { class: "when" }, step.label));
}

function drawTable(entries) {
  const head = ["When", "Trigger", "Decision", "Reason", "Trace"];
  return element("table", {},
    element("caption", {}, "The poll’s journal, newest first, as its creator reads it"),
    element("thead", {}, element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...entries.map((entry) => element("tr", {},
      ...[clock(entry.at), triggerWords(entry), decisionWords(entry), reasonWords(entry)].map((text) => element("td", {}, text)),
      element("td", {}, element("code", {}, entry.trace))))));
}

// clock is the time of day with milliseconds, where the visitor is.
function clock(text) {
  const at = new Date(text);
  return `${at.toLocaleTimeString("en-GB")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}
