import { element, button } from "./element.js";
import { timeOf } from "./poll_time.js";

// commands is what the poll's creator can do with it now. Which states allow what is
// in the page of states; the server has the last word.
export function commands(view) {
  const { poll, session } = view;
  if (session.me !== poll.creator_id) return element("p", { class: "soft" }, `Only ${poll.creator_id} can change this poll.`);
  if (poll.status === "ARCHIVED") return element("p", { class: "soft" }, "This poll is archived.");
  const buttons = [];
  if (poll.google_event_id) {
    buttons.push(command(view, "Check the calendar now", "sync", "You checked the calendar"));
  }
  if (poll.status !== "OPEN") buttons.push(command(view, "Reopen the voting", "reopen", "You reopened the poll", { delete_event: true }));
  if (poll.status !== "CANCELLED") buttons.push(command(view, "Cancel the session", "cancel", "You cancelled the session", { delete_event: true }));
  return element("div", { class: "commands", role: "group", "aria-label": "What you can do as its organiser" },
    poll.google_event_id ? null : finalise(view), element("div", { class: "row" }, ...buttons));
}

function command(view, text, verb, said, body) {
  return button(text, () => view.act(said, () => view.session.v1("POST", `/polls/${view.poll.id}/${verb}`, body)), { id: `poll-${verb}` });
}

// finalise has the choice of a slot, the one with most votes first chosen. The choice
// is kept by an attribute, as the radio buttons of a vote are.
function finalise(view) {
  const { poll } = view;
  const favourite = poll.winning_slot?.id ?? [...poll.slots].sort((one, other) => other.feasible - one.feasible || other.preferred - one.preferred)[0]?.id;
  const chosen = poll.slots.some((slot) => slot.id === view.draft.slot) ? view.draft.slot : favourite;
  const choice = element("select", { id: "finalise-slot" },
    ...poll.slots.map((slot) => element("option", { value: slot.id, defaultSelected: slot.id === chosen }, timeOf(slot))));
  choice.addEventListener("change", () => {
    view.draft.slot = choice.value;
    for (const option of choice.options) option.defaultSelected = option.selected;
  });
  return element("div", { class: "row" }, element("label", { class: "row" }, element("span", { class: "soft" }, "Time"), choice),
    button("Finalise into the calendar", () => putIntoCalendar(view, choice.value), { id: "poll-finalise", class: "strong" }));
}

// putIntoCalendar finalises the poll, and has the calendar show its event.
async function putIntoCalendar(view, slot) {
  const { session, poll } = view;
  const done = await view.act("You finalised the poll; the session is in the calendar", () =>
    session.v1("POST", `/polls/${poll.id}/finalize`, { slot_id: slot, create_event: true }));
  if (done) session.tell("event", done.winning_slot.start);
}
