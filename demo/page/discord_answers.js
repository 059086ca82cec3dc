import { button, element, replace } from "./element.js";
import { message } from "./discord_draw.js";

// Kinds of interactions and of answers, and components of forms, by Discord's numbers.
const commanded = 2;
const pressed = 3;
const typing = 4;
const submitted = 5;
const withMessage = [4, 7];
const withForm = 9;
const selection = 3;
const writing = 4;
const paragraph = 2; // a style of writing

// Answers does what the visitor does with the bot: it sends presses and forms as the member of
// the party that the visitor is, draws the forms that the server answers with, and its messages,
// which that person alone sees.
export class Answers {
  constructor(client, session) {
    this.session = session;
    this.shown = element("div", { class: "only-you", role: "status" });
    this.dialog = element("dialog", { id: "discord-form", "aria-labelledby": "discord-form-title" });
    client.append(this.shown, this.dialog);
    session.on("person", () => replace(this.shown));
  }

  press(messageID, customID) { return this.send(pressed, { custom_id: customID }, messageID); }

  command(data) { return this.send(commanded, data); }

  // complete gives what the option that is being typed may become.
  async complete(data) {
    const sent = await this.session.control("discord", "POST", "/interactions", this.asked(typing, data)).catch(() => null);
    return sent?.answer?.data?.choices ?? []; // a server that is away offers nothing
  }

  asked(type, data, messageID) {
    const { world, me } = this.session;
    return {
      user: { id: world.users[me].discord_user_id, username: me }, guild_id: world.discord_guild_id, channel_id: world.discord_channel_id,
      type, data, message_id: messageID,
    };
  }

  async send(type, data, messageID) {
    const { session } = this;
    const { me } = session;
    const asked = this.asked(type, data, messageID);
    const sent = await session.acts(`Discord sent what ${me} did to the server`, () => session.control("discord", "POST", "/interactions", asked));
    if (!sent) return;
    if (sent.answer.type === withForm) this.openForm(sent.answer.data, messageID);
    if (withMessage.includes(sent.answer.type)) this.show((await session.control("discord", "GET", `/ephemerals/${asked.user.id}`)).at(-1));
  }

  show(posted) {
    replace(this.shown, message(posted, { ...this.context, user: (_, id) => this.nameOf(id) }),
      element("p", { class: "edited" }, `Only ${this.session.me} sees this. `, button("Dismiss", () => replace(this.shown), { class: "dismiss" })));
  }

  nameOf(id) {
    return Object.entries(this.session.world.users).find(([, user]) => user.discord_user_id === id)?.[0] ?? "unknown-user";
  }

  openForm({ custom_id: customID, title, components }, messageID) {
    const form = element("form", { class: "event-form" }, element("h3", { id: "discord-form-title" }, title),
      ...components.map(part),
      element("div", { class: "row" }, element("button", { type: "submit", id: "discord-submit" }, "Submit"),
        button("Cancel", () => this.dialog.close())));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.dialog.close();
      const filled = components.filter(({ component }) => component).map(({ component }) => ({ type: 18, component: filledIn(form, component) }));
      this.send(submitted, { custom_id: customID, components: filled }, messageID);
    });
    this.dialog.replaceChildren(form);
    this.dialog.showModal();
  }
}

// part draws a text, or a label with its select, its box or its line to write in. Where one option is chosen, a select
// is a choice of one.
function part({ label, description, component, content }) {
  if (!component) return element("p", {}, content);
  const { type, custom_id: name } = component;
  if (type === writing) {
    return element("label", { class: "field" }, element("span", {}, label, " ", element("span", { class: "soft" }, description ?? "")),
      element(component.style === paragraph ? "textarea" : "input", {
        name, defaultValue: component.value ?? "", maxLength: component.max_length, required: component.required !== false,
      }));
  }
  if (type !== selection) {
    return element("label", { class: "row" }, element("input", { type: "checkbox", name, defaultChecked: Boolean(component.default) }), label);
  }
  const one = (component.max_values ?? 1) === 1 && component.min_values !== 0;
  const box = (option) => element("input", {
    type: one ? "radio" : "checkbox", name, value: option.value, defaultChecked: Boolean(option.default), required: one,
  });
  return element("fieldset", { class: "choices" }, element("legend", {}, label, " ", element("span", { class: "soft" }, description ?? "")),
    ...component.options.map((option) => element("label", { class: "row" }, box(option), option.label,
      element("span", { class: "soft" }, option.description ?? ""))));
}

function filledIn(form, { type, custom_id: id }) {
  const boxes = [...form.elements].filter((input) => input.name === id);
  if (type === writing) return { type, custom_id: id, value: boxes[0].value };
  if (type !== selection) return { type, custom_id: id, value: boxes[0].checked };
  return { type, custom_id: id, values: boxes.filter((box) => box.checked).map((box) => box.value) };
}
