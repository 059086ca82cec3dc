import { element, replace } from "./element.js";

const textOption = 3; // Discord's number
const pause = 200; // ms without a key before choices are asked for

// known are the bot's commands, with their options. Text before the first option's name is the
// first option's.
const known = { poll: ["title", "zone", "from"], who: ["poll"], manage: ["poll"], me: [], "me-code": [] };

// mountCommand lets the visitor type the bot's commands below the messages of the channel. While
// one types, the bot offers polls.
export function mountCommand(client, answers) {
  const choices = element("datalist", { id: "discord-choices" });
  const input = element("input", {
    id: "discord-command", type: "text", autocomplete: "off", maxLength: 300, placeholder: "/quest poll Session 13", "aria-label": "Type a command of the bot",
  });
  input.setAttribute("list", choices.id);
  const form = element("form", { class: "typed" }, input, choices, element("button", { type: "submit", id: "discord-send" }, "Send"));
  client.append(form);
  const offered = new Map(); // by the command that an offer completes, the value that Discord sends
  const offer = (texts) => replace(choices, ...texts.map((value) => element("option", { value })));
  const start = () => offer(Object.keys(known).map((name) => `/quest ${name}`));
  start();
  answers.session.on("person", () => { offered.clear(); start(); });

  let asks = 0;
  input.addEventListener("input", async () => {
    const ask = ++asks;
    await new Promise((done) => { setTimeout(done, pause); });
    const typed = parse(input.value);
    if (ask !== asks || known[typed?.name]?.[0] !== "poll") return;
    const found = await answers.complete(dataOf(typed, true));
    if (ask !== asks) return;
    for (const { name, value } of found) offered.set(`/quest ${typed.name} ${name}`, value);
    offer(found.map(({ name }) => `/quest ${typed.name} ${name}`));
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const typed = parse(input.value);
    if (!typed) {
      answers.session.say(`Type one of these: ${Object.keys(known).map((name) => `/quest ${name}`).join(", ")}.`, "problem");
      return;
    }
    const chosen = offered.get(input.value.trim());
    if (chosen) typed.given = { poll: chosen };
    input.value = "";
    asks++;
    start();
    await answers.command(dataOf(typed));
  });
}

// parse reads what was typed, such as "/quest poll Session 13 zone:Europe/Berlin"; null for what
// is no command.
function parse(text) {
  const [, name, rest] = /^\/quest\s+([a-z-]+)(.*)$/i.exec(text.trim()) ?? [];
  if (!Object.hasOwn(known, name ?? "")) return null;
  const given = {};
  const parts = rest.split(/(?:^|\s)([a-z]+):/);
  const names = [known[name][0], ...parts.filter((_, at) => at % 2 === 1)];
  parts.filter((_, at) => at % 2 === 0).forEach((value, at) => {
    if (known[name].includes(names[at]) && value.trim()) given[names[at]] = value.trim();
  });
  return { name, given };
}

// dataOf is a command as Discord sends it; typing, its first option is the one that is being typed.
function dataOf({ name, given }, typing = false) {
  const options = Object.entries(given).map(([option, value]) => ({ name: option, type: textOption, value }));
  if (typing) options.splice(0, options.length, { name: known[name][0], type: textOption, value: given[known[name][0]] ?? "", focused: true });
  return { name: "quest", options: [{ name, type: 1, options }] };
}
