import { button, element, replace } from "./element.js";
import { checkNow, faults, moveAnHour } from "./faults_list.js";
import { Recovery, recoveryWords } from "./faults_recovery.js";
import { showHealth } from "./faults_health.js";
import { clockAhead } from "./journal_sources.js";
import { mustLink } from "./poll_head.js";
import { showStrip } from "./faults_strip.js";

// mountFaults shows what can be broken, how each stands, and the health of the sync.
export async function mountFaults(body, session) {
  const recovery = new Recovery(session);
  const cards = faults(session).map((fault) => card(fault, session, recovery));
  const health = element("div", { class: "sync" });
  body.append(
    element("p", { class: "soft" }, "Break something, then move the session: in the calendar above, or with the first button. Watch the poll fall behind and catch up."),
    tools(session, recovery),
    element("div", { class: "broken" }, element("div", { class: "cards" }, ...cards.map(({ node }) => node)),
      element("section", { "aria-labelledby": "health-title" }, element("h3", { id: "health-title" }, "How the server says it is"), health)));
  await session.follow(async () => {
    const ahead = await clockAhead(session);
    const [planted, state] = await Promise.all([session.control("google", "GET", "/faults"), recovery.check(Date.now() + ahead), showHealth(health, session, ahead)]);
    showStrip(session, recovery, state);
    for (const { fault, show } of cards) show(planted.faults.find((rule) => sameRule(rule, fault.rule))?.times);
  });
}

// card is one fault, with its button and its state.
function card(fault, session, recovery) {
  const state = element("p", { class: "state", id: `state-${fault.id}`, role: "status" });
  const plant = async () => {
    const ahead = await clockAhead(session);
    await (fault.plant ? fault.plant() : session.control("google", "POST", "/faults", fault.rule));
    recovery.begin(fault.id, Date.now() + ahead);
  };
  const node = element("article", { id: `fault-${fault.id}`, "aria-labelledby": `fault-${fault.id}-title` },
    element("h3", { id: `fault-${fault.id}-title` }, fault.title), element("p", {}, fault.text),
    element("div", { class: "row" },
      button(fault.button, () => session.acts(`Done: ${lower(fault.button)}`, plant), { id: `break-${fault.id}` }),
      fault.link ? element("a", { class: "button", id: `link-${fault.id}`, href: session.linkAgain }, fault.link) : null),
    state);
  const show = (left) => {
    const text = recoveryWords(fault, recovery.broken[fault.id], left);
    if (state.textContent !== text) replace(state, text);
    state.dataset.phase = recovery.broken[fault.id]?.phase ?? "";
  };
  return { fault, node, show };
}

// tools are what a visitor does beside breaking things.
function tools(session, recovery) {
  const heal = async () => {
    await session.control("google", "DELETE", "/faults");
    await session.control("discord", "DELETE", "/faults");
    await session.control("google", "POST", "/channels", { longest_grant: "off" });
    recovery.end();
    return recovery.check(Date.now());
  };
  // What only a person can give back stays broken.
  const healAll = async () => {
    const state = await session.acts("Nothing is broken any more", heal);
    if (state && mustLink(state.poll)) {
      session.say("Still broken: the access is revoked. Only its owner can give it back.", "problem",
        element("a", { id: "link-healed", href: session.linkAgain }, "Link the calendar again"));
    }
  };
  const move = async () => {
    await recovery.check(Date.now());
    return moveAnHour(session, recovery.link);
  };
  return element("div", { class: "row tools" },
    button("Move the session by an hour", () => session.acts("The session was moved in the calendar", move), { id: "move-hour" }),
    button("Check the calendar now", () => session.acts("The server checked the calendar", () => checkNow(session)), { id: "check-now" }),
    button("Let six hours pass", () => session.acts("Six hours passed on the demo’s clock; the server’s timers notice within a minute",
      () => session.control("google", "POST", "/clock", { advance: "6h5m" })), { id: "six-hours" }),
    button("Heal everything", healAll, { id: "heal" }));
}

// sameRule compares a fault that the simulator has with the one that was planted; the
// times left do not matter.
function sameRule(has, want) {
  return want !== undefined && Object.entries(want).every(([name, value]) => name === "times" || has[name] === value);
}

function lower(text) { return text[0].toLowerCase() + text.slice(1); }
