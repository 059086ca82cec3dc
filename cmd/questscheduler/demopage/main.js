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

const session = await openSession();
personSwitch(session);
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
