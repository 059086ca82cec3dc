// What stands in the journal, in words. A value that is not here is shown as it is.
const triggers = {
  push: "A push from Google", person: "A person’s check", timer: "A timer", sweep: "The sweep", drain: "The server’s own check of what is pending",
  relink: "An account was linked or checked", start: "The server’s start", seed: "The demo’s preparation",
  intent: "Work that was left to do", outside_edit: "A change of the poll’s document", watch: "The watch channel",
};
const decisions = {
  reschedule: "Rescheduled", reschedule_again: "Rescheduled again", restore: "Back to the original time", cancel: "Cancelled",
  revive: "On again", record: "Noted, nothing changed", nothing: "Nothing changed", adopt: "Followed from now on",
  moved_calendar: "Followed into another calendar", warn: "A problem is shown", clear_error: "The problem is over", forget: "Not followed any more",
};
// reasons are rows of the rules and errors that this page can show.
const reasons = {
  moved: "moved in the calendar", moved_again: "moved in the calendar once more", moved_back: "moved back in the calendar",
  deleted: "deleted in the calendar", revived: "the event is there again", in_step: "at the poll’s time", applied_already: "known already",
  token_expired: "the server’s access has ended", calendar_unlinked: "the calendar is unlinked",
};
const commands = {
  finalise: "Finalised", cancel: "Cancelled", reopen: "Reopened", vote: "Voted", edit: "Edited", edit_slots: "Times edited",
  archive: "Archived", unarchive: "Taken out of the archive", restore_original_time: "Original time restored",
  accept_new_time: "New time accepted", delete: "Deleted", delete_event: "Event deleted",
};

// triggerWords says what set the step off.
export function triggerWords(entry) {
  if (entry.who) return `A person: ${entry.who}`;
  return triggers[entry.hint] ?? words(entry.hint);
}

// causeWords says the same within a sentence.
export function causeWords(entry) {
  if (entry.who) return entry.command ? `by ${entry.who}` : `as ${entry.who} asked for a check`;
  const words = triggerWords(entry);
  return `after ${words[0].toLowerCase()}${words.slice(1)}`;
}

// decisionWords says what became of the poll.
export function decisionWords(entry) {
  if (entry.command) return commands[entry.command] ?? words(entry.command);
  if (entry.decision) return decisions[entry.decision] ?? words(entry.decision);
  return "Noted";
}

// reasonWords is the row of the rules that decided, or the error that is shown.
export function reasonWords(entry) {
  return [...new Set([entry.reason, entry.result.error].filter(Boolean).flatMap((reason) => reason.split(": ")).map((name) => reasons[name] ?? words(name)))].join(": ");
}

function words(name) {
  return name.replaceAll("_", " ");
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

// took is a length of time as people say it: "12 ms", "1.2 s", "6 h 5 min".
export function took(ms) {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < minute) return `${(ms / second).toFixed(1)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min ${Math.floor((ms % minute) / second)} s`;
  return `${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} min`;
}
