import { element, button, replace, replaceMarked } from "./element.js";
import { head, panel, syncError } from "./poll_head.js";
import { ballot, Draft } from "./poll_votes.js";
import { commands } from "./poll_commands.js";
import { PollForm } from "./poll_form.js";

const unreadable = "This poll cannot be read by the person you are now, or it was deleted. Choose another person or poll.";

// narrow is a screen on which only what the poll says is open at first.
const narrow = matchMedia("(max-width: 600px)");

// mountPoll shows the chosen poll as its web app shows it to the visitor.
export async function mountPoll(body, session) {
  const view = { session, poll: null, draft: new Draft(), busy: false };
  view.act = (text, work) => act(view, text, work);
  view.draw = () => draw(parts, view);
  const choice = element("select", { id: "poll-choice", "aria-label": "The poll that is shown" });
  choice.addEventListener("change", () => session.choose(choice.value));
  const parts = {
    choice, head: element("div", { class: "head" }), panel: element("div"), votes: element("div"), commands: element("div"),
  };
  const form = new PollForm(body, session);
  const rest = element("details", { class: "rest", open: !narrow.matches }, element("summary", {}, "Votes and what to do"), parts.panel, parts.votes, parts.commands);
  narrow.addEventListener("change", () => { rest.open = !narrow.matches; });
  body.append(element("div", { class: "row" }, choice, button("New poll", () => form.open(), { id: "poll-new" })), parts.head, rest);
  await session.follow(async () => {
    const [id, me] = [session.pollID, session.me];
    const poll = await readable(session, id);
    if (id !== session.pollID || me !== session.me) return; // another is chosen by now, and asked for
    view.poll = poll;
    view.draw();
  });
}

// readable reads a poll as the visitor; null if the visitor may not.
async function readable(session, id) {
  try {
    return await session.v1("GET", `/polls/${id}`);
  } catch (problem) {
    if (problem.status === 404) return null;
    throw problem;
  }
}

// act does what a button asks for, one at a time. The server answers with the poll as it
// is then, which is returned; undefined after a failure.
async function act(view, text, work) {
  if (view.busy) return undefined;
  view.busy = true;
  const poll = await view.session.acts(text, work);
  view.busy = false;
  if (poll?.id !== view.session.pollID) return poll;
  view.draft = new Draft();
  view.poll = poll;
  view.draw();
  return poll;
}

function draw(parts, view) {
  const { poll, session } = view;
  const inside = [parts.head, parts.panel, parts.votes, parts.commands].some((part) => part.contains(document.activeElement));
  drawChoice(parts.choice, view);
  if (!poll) {
    replace(parts.head, element("p", { class: "notice" }, unreadable));
    for (const part of [parts.panel, parts.votes, parts.commands]) replace(part);
    return;
  }
  view.draft.of(`${session.me} ${poll.id}`);
  replaceMarked(parts.head, `${session.me} ${poll.id}`, ...head(poll));
  replace(parts.panel, syncError(view), panel(view));
  replace(parts.votes, ballot(view));
  replace(parts.commands, commands(view));
  // A button that is gone would take the keyboard's place on the page with it.
  if (inside && document.activeElement === document.body) document.getElementById("poll-heading").focus({ preventScroll: true });
}

// drawChoice lists the visitor's polls, and the chosen one although it may not be theirs.
function drawChoice(choice, { session, poll }) {
  const options = [...session.polls.values()].sort((one, other) => one.title.localeCompare(other.title))
    .map((poll) => element("option", { value: poll.id }, poll.title));
  if (!session.polls.has(session.pollID)) options.push(element("option", { value: session.pollID }, poll?.id === session.pollID ? poll.title : "Another poll"));
  replace(choice, ...options);
  choice.value = session.pollID;
}
