// Opens the session and puts every part of the page to work. A part that fails to
// begin says so in its own section, and the others go on.
import { openSession } from "./session.js";
import { element } from "./element.js";
import { mountWeek } from "./week.js";
import { mountSecond } from "./second.js";
import { mountPoll } from "./poll.js";
import { mountBells } from "./bells.js";
import { mountDiscord } from "./discord.js";
import { mountJournal } from "./journal.js";
import { mountFaults } from "./faults.js";

const parts = {
  week: mountWeek, second: mountSecond, poll: mountPoll, bells: mountBells,
  discord: mountDiscord, journal: mountJournal, faults: mountFaults,
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

// sayLinked says how linking an account ended, as the address says it to which Google's
// consent page returned, and takes that out of the address.
function sayLinked(session) {
  const ended = new URLSearchParams(location.search);
  if (!ended.has("calendar")) return;
  if (ended.get("calendar") === "linked") session.say("The account is linked.");
  else session.say(`The account is not linked (${ended.get("code")}). Try it again and allow every access.`, "problem");
  history.replaceState(null, "", location.pathname);
}

// offerToken copies the admin's token, which the dashboard asks for.
function offerToken(session) {
  document.getElementById("admin-token").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(session.world.admin_token);
      session.say("The admin’s token is copied. The dashboard asks for it.");
    } catch {
      session.say("The browser does not let this page copy. The token is in the commands.", "problem");
    }
  });
}

const session = await openSession();
personSwitch(session);
offerToken(session);
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
