import { button, element, field } from "./element.js";
import { momentOf, wallOf } from "./zone.js";

const evenings = 3; // times that a poll is made with
const hour = 3_600_000;
const length = 4 * hour;
const week = 7 * 24 * hour;

// PollForm makes a poll of the party in a dialog: a title and three times, which are
// evenings of the next week until they are changed.
export class PollForm {
  constructor(body, session) {
    this.session = session;
    this.title = element("input", { id: "new-title", required: true, maxLength: 200 });
    this.starts = Array.from({ length: evenings }, (_, i) => element("input", { id: `new-start-${i + 1}`, type: "datetime-local", required: true }));
    const form = element("form", { class: "event-form" }, element("h3", { id: "new-poll-title" }, "New poll of the party"),
      field("Title", this.title), ...this.starts.map((input, i) => field(`Time ${i + 1}, four hours from`, input)),
      element("div", { class: "row" }, element("button", { type: "submit", id: "new-save" }, "Make the poll"),
        button("Close", () => this.dialog.close(), { id: "new-close" })));
    form.addEventListener("submit", (event) => { event.preventDefault(); this.save(); });
    this.dialog = element("dialog", { id: "new-poll", "aria-labelledby": "new-poll-title" }, form);
    body.append(this.dialog);
  }

  open() {
    this.title.value = "Session 13: The Glass Tower";
    const first = `${wallOf(Date.now() + week).slice(0, 10)}T19:00`;
    this.starts.forEach((input, i) => { input.value = wallOf(momentOf(first) + i * 24 * hour).slice(0, 16); });
    this.dialog.showModal();
    this.title.select();
  }

  async save() {
    const { session } = this;
    this.dialog.close();
    const slots = this.starts.map((input) => {
      const start = momentOf(input.value);
      return { start: new Date(start).toISOString(), end: new Date(start + length).toISOString() };
    });
    const body = { title: this.title.value.trim(), timezone: session.zone, participant_ids: session.names, group_id: session.world.group_id, slots };
    const made = await session.acts(`You made the poll “${body.title}”; vote, or become a player and vote`, () => session.v1("POST", "/polls", body));
    if (!made) return;
    session.polls.set(made.id, made);
    session.choose(made.id);
    document.getElementById("poll-heading")?.focus();
  }
}
