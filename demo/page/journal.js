import { element, replace, replaceMarked } from "./element.js";
import { causeWords, decisionWords, reasonWords, took, triggerWords } from "./journal_words.js";
import { pathOf, timed } from "./journal_path.js";
import { Arrivals, Deliveries, clockAhead } from "./journal_sources.js";
import { format } from "./zone.js";

// How many entries the table has.
const listed = 10;

// mountPath shows the way of the chosen poll's last change in milliseconds, and its
// latest journal entries below.
export async function mountPath(path, session) {
  const arrivals = new Arrivals(session);
  const deliveries = new Deliveries(session);
  const table = element("div", { class: "entries", role: "region", "aria-label": "Latest journal entries", tabIndex: 0 });
  document.querySelector("#journal .body").append(table);
  await session.follow(async () => {
    const ahead = await clockAhead(session);
    const { pollID } = session;
    // Only its creator reads a journal, so it is always read as the game master.
    const { entries } = await session.v1("GET", `/polls/${pollID}/journal?limit=${listed}`, undefined, "gm");
    if (entries.length === 0) {
      replace(path, element("p", { class: "soft" }, "Nothing was decided about this poll so far."));
      replace(table);
      return;
    }
    const [last] = entries;
    const steps = pathOf(last, await deliveries.of(last, ahead), arrivals.of(last, ahead));
    replaceMarked(path, pollID, ...drawPath(last, steps));
    replace(table, drawTable(entries));
  });
}

function drawPath(entry, steps) {
  const { total, labelled } = timed(steps);
  const reason = reasonWords(entry);
  return [
    element("p", {}, element("strong", {}, decisionWords(entry)), reason ? ` (${reason})` : "", `, ${causeWords(entry)}. `,
      element("span", { class: "total" }, `All of it in ${took(total)}.`)),
    element("ol", { class: "steps" }, ...labelled.map(({ name, at, label }) =>
      element("li", { class: at === undefined ? "missing" : "" }, element("span", { class: "name" }, name), " ", element("span", { class: "when" }, label)))),
  ];
}

function drawTable(entries) {
  const head = ["When", "Trigger", "Decision", "Reason", "Trace"];
  return element("table", {},
    element("caption", {}, "Newest first, as the poll’s creator reads it"),
    element("thead", {}, element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...entries.map((entry) => element("tr", {},
      ...[clock(entry.at), triggerWords(entry), decisionWords(entry), reasonWords(entry)].map((text) => element("td", {}, text)),
      element("td", {}, element("code", {}, entry.trace))))));
}

// clock is the time of day with milliseconds.
function clock(text) {
  const at = new Date(text);
  return `${format({ timeStyle: "medium" }).format(at)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}
