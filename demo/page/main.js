// Opens the session and puts every part of the page to work. A part that fails to
// begin says so in its own section, and the others go on.
import { openSession } from "./session.js";
import { element } from "./element.js";
import { ownZone, zoneName } from "./zone.js";
import { mountWeek } from "./week.js";
import { mountSecond } from "./second.js";
import { mountPoll } from "./poll.js";
import { mountBells } from "./bells.js";
import { mountDiscord } from "./discord.js";
import { mountPath } from "./journal.js";
import { mountFaults } from "./faults.js";

const parts = {
  week: mountWeek, poll: mountPoll, bells: mountBells, discord: mountDiscord, path: mountPath, faults: mountFaults, second: mountSecond,
};

// personSwitch is one radio button for each member of the party.
function personSwitch(session) {
  const group = document.getElementById("people");
  for (const name of session.names) {
    const input = element("input", { type: "radio", name: "person", value: name, id: `person-${name}`, checked: name === session.me });
    input.addEventListener("change", () => session.become(name));
    group.append(element("label", {}, input, element("span", {}, name)));
  }
}

// sayZone says once in which time zone all times of the page are, and offers the other.
function sayZone(session) {
  const [shown, own] = [zoneName(), ownZone()];
  const other = shown === session.zone ? own : session.zone;
  document.getElementById("zone").append(`Times in ${shown}. `,
    other === shown ? "" : element("a", { href: other === own ? "?zone=own" : "/demo" }, `Show ${other}`));
}

// sayLinked says how linking an account ended, as the address says it to which Google's
// consent page returned, and takes that out of the address.
function sayLinked(session) {
  const ended = new URLSearchParams(location.search);
  if (!ended.has("calendar")) return;
  if (ended.get("calendar") === "linked") session.say("The account is linked.");
  else if (ended.get("code") === "access_denied") session.say("You cancelled: no account is linked.");
  else session.say(`The account is not linked (${ended.get("code")}). Try it again and allow every access.`, "problem");
  history.replaceState(null, "", location.pathname);
}

const session = await openSession();
personSwitch(session);
sayZone(session);
sayLinked(session);
for (const [id, mount] of Object.entries(parts)) {
  const body = document.querySelector(`#${id} .body`);
  try {
    await mount(body, session);
  } catch (problem) {
    console.error(id, problem);
    body.textContent = `This part did not start: ${problem.message}`;
  }
}
session.listen();
document.documentElement.dataset.ready = "yes"; // for tests
