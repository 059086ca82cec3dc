import { element, replace } from "./element.js";
import { spoken } from "./week_times.js";
import { zoneName } from "./zone.js";

// policyName is the policy that this page makes; its edge is the switch.
const policyName = "Busy times";

const details = { BUSY: "as Busy", TITLE: "with their titles", FULL: "in full" };
const off = "OFF";

// days is how far ahead the second account's events are shown.
const days = 28;

// Second is the game master's second Google account, to which the events of the first
// one are mirrored as long as a policy of theirs says so.
class Second {
  constructor(body, session) {
    this.session = session;
    this.account = session.organiser.second;
    this.choice = element("select", { id: "mirror-detail" }, element("option", { value: off }, "not at all"),
      ...Object.entries(details).map(([value, text]) => element("option", { value }, text)));
    this.choice.addEventListener("change", () => this.choose(this.choice.value));
    this.list = element("ul", { class: "agenda", "aria-live": "polite", "aria-labelledby": "second-title" });
    body.append(element("label", { class: "row", htmlFor: "mirror-detail" }, `Show the events of the calendar above in ${this.account.email}`, this.choice), this.list);
  }

  // refresh shows the switch as the policy has it, and what is in the account's
  // calendars. The choice is left alone while somebody makes it.
  async refresh() {
    const [policy, events] = await Promise.all([this.policy(), this.events()]);
    const edge = policy?.edges.find((one) => one.to_account_id === this.account.account_id);
    if (document.activeElement !== this.choice) this.choice.value = edge?.detail ?? off;
    replace(this.list, ...(events.length ? events.map(line) : [element("li", { class: "soft" }, "Nothing in the next four weeks.")]));
  }

  async policy() {
    const { policies } = await this.session.v1("GET", "/policies", undefined, "gm");
    return policies.find((one) => one.name === policyName);
  }

  async events() {
    const { items } = await this.session.google("GET", "/users/me/calendarList", undefined, this.account);
    const now = Date.now();
    const query = new URLSearchParams({
      singleEvents: true, orderBy: "startTime", maxResults: 50, timeZone: zoneName(), timeMin: new Date(now).toISOString(), timeMax: new Date(now + days * 86_400_000).toISOString(),
    });
    const lists = items.map(async (calendar) => {
      const listed = await this.session.google("GET", `/calendars/${encodeURIComponent(calendar.id)}/events?${query}`, undefined, this.account);
      return listed.items.map((event) => ({ event, calendar }));
    });
    const startOf = ({ event }) => event.start.dateTime ?? event.start.date;
    return (await Promise.all(lists)).flat().sort((a, b) => startOf(a).localeCompare(startOf(b)));
  }

  choose(detail) {
    const text = detail === off ? "The second account shows nothing of the first any more." : `The second account shows the events of the first one ${details[detail]}.`;
    return this.session.acts(text, async () => {
      const { accounts } = await this.session.v1("GET", "/accounts", undefined, "gm");
      const first = accounts.find((one) => one.email === this.session.organiser.email);
      const policy = await this.policy() ?? await this.session.v1("POST", "/policies", { name: policyName }, "gm");
      const edges = detail === off ? [] : [{ from_account_id: first.id, to_account_id: this.account.account_id, detail }];
      await this.session.v1("PUT", `/policies/${policy.id}/edges`, { edges }, "gm");
    });
  }
}

function line({ event, calendar }) {
  const allDay = Boolean(event.start.date);
  const times = { allDay, start: event.start.date ?? event.start.dateTime.slice(0, 19), end: event.end.date ?? event.end.dateTime.slice(0, 19) };
  return element("li", {}, element("strong", {}, event.summary || "(no title)"), ` ${spoken(times)} `,
    element("span", { class: "soft" }, calendar.primary ? "own event" : `in “${calendar.summary}”`));
}

export async function mountSecond(body, session) {
  const second = new Second(body, session);
  await session.follow(() => second.refresh());
}
