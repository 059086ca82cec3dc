import { element, button } from "./element.js";
import { timeOf } from "./poll_time.js";

const answers = [["", "No"], ["FEASIBLE", "Works"], ["PREFERRED", "Best"]];
const marks = { FEASIBLE: "✓", PREFERRED: "★" };
const spoken = { FEASIBLE: "works", PREFERRED: "is best" };

// Draft is a vote that is not saved yet. It belongs to one person and one poll, and
// survives that others vote in between.
export class Draft {
  choices = new Map(); // slot id to answer
  none = null; // "no times work", if it was touched

  of(owner) {
    if (this.owner && this.owner !== owner) { this.choices.clear(); this.none = null; }
    this.owner = owner;
  }
}

// ballot is the table of votes by slot, with the visitor's own vote on an open poll.
// Votes of a rescheduled poll are hidden.
export function ballot(view) {
  const { poll } = view;
  if (poll.participants_hidden) return element("p", { class: "soft" }, "Participants and votes are hidden.");
  const open = poll.status === "OPEN";
  const mine = poll.votes.find((vote) => vote.user_id === view.session.me);
  const none = view.draft.none ?? mine?.no_times_work ?? false;
  const table = element("table", { class: "votes" },
    element("caption", { class: "hidden" }, "Proposed times and votes"),
    element("thead", {}, element("tr", {}, ...["Time", "Votes", ...(open ? ["Your vote"] : [])].map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...poll.slots.map((slot) => row(view, slot, open ? answerOf(view.draft, mine, slot) : null, none))));
  return open ? element("form", { id: "vote" }, table, rest(view, none)) : table;
}

function answerOf(draft, mine, slot) { return draft.choices.get(slot.id) ?? mine?.votes[slot.id] ?? ""; }

function row(view, slot, answer, none) {
  const { poll } = view;
  const wins = poll.winning_slot?.id === slot.id;
  const time = timeOf(slot);
  return element("tr", { class: wins ? "wins" : "" },
    element("th", { scope: "row" }, time, wins ? element("span", { class: "chosen" }, " chosen") : null,
      slot.source === "calendar" ? element("span", { class: "soft" }, " from the calendar") : null),
    element("td", {}, ...voters(poll, slot)),
    answer === null ? null : element("td", {}, element("fieldset", { class: "answer", disabled: none },
      element("legend", { class: "hidden" }, time), ...answers.map((choice) => radio(view, slot, choice, answer)))));
}

function voters(poll, slot) {
  const said = poll.votes.filter((vote) => vote.votes[slot.id]);
  if (said.length === 0) return [element("span", { class: "soft" }, "none")];
  return said.map(({ user_id: name, votes }) => element("span", { class: `voter ${votes[slot.id].toLowerCase()}`, title: `${name}: ${spoken[votes[slot.id]]}` },
    `${name} `, element("span", { "aria-hidden": "true" }, marks[votes[slot.id]]), element("span", { class: "hidden" }, `${spoken[votes[slot.id]]}. `)));
}

// radio is one answer for a slot. The attribute checked follows what is chosen, so
// that a refresh finds the page as it would draw it and leaves it alone.
function radio(view, slot, [value, text], answer) {
  const input = element("input", { type: "radio", name: `slot-${slot.id}`, value, id: `vote-${slot.id}-${text}`, defaultChecked: value === answer });
  input.addEventListener("change", () => {
    view.draft.choices.set(slot.id, value);
    for (const other of input.form.elements[input.name]) other.defaultChecked = other.checked;
  });
  return element("label", {}, input, element("span", {}, text));
}

function rest(view, none) {
  const box = element("input", { type: "checkbox", id: "vote-none", defaultChecked: none });
  box.addEventListener("change", () => { view.draft.none = box.checked; view.draw(); });
  return element("div", { class: "row" },
    element("label", { class: "tick" }, box, " No times work for me"),
    button("Save my vote", () => save(view), { id: "vote-save", class: "strong" }));
}

function save(view) {
  const { poll, session, draft } = view;
  const mine = poll.votes.find((vote) => vote.user_id === session.me);
  const none = draft.none ?? mine?.no_times_work ?? false;
  const chosen = poll.slots.map((slot) => [slot.id, answerOf(draft, mine, slot)]).filter(([, answer]) => answer && !none);
  view.act(`You voted as ${session.me}`, () =>
    session.v1("PUT", `/polls/${poll.id}/votes/me`, { votes: Object.fromEntries(chosen), no_times_work: none }));
}
