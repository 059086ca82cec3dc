import { element, replace } from "./element.js";
import { took } from "./journal_words.js";
import { format } from "./zone.js";

const health = {
  healthy: "Healthy: the calendar is followed.", degraded: "Degraded: something fails since a short while.",
  stale: "Stale: something fails for hours.", unhealthy: "Unhealthy: something fails for a day.", error: "Paused: a person must link the calendar again.",
};
const channels = { none: "none", error: "refused", expired: "ended", pending: "being opened", active: "open" };
const calls = ["events.list", "events.get", "events.patch", "events.insert", "events.watch", "oauth.token", "push"];

// showHealth shows how the server says that the sync of the game master's calendar
// stands, and how often Google was called.
export async function showHealth(part, session, ahead) {
  const [status, counts] = await Promise.all([session.v1("GET", "/sync/status", undefined, "gm"), session.control("google", "GET", "/calls")]);
  const account = status.accounts.find(({ email }) => email === session.organiser.email);
  const calendar = account?.calendars[0];
  const rows = [
    ["Last sync", instant(account?.last_success_ts)],
    ["Watch channel", watched(calendar)],
    ["Pending", pending(account, calendar)],
    ["Demo’s clock", `${instant(Date.now() + ahead).slice(0, -3)}${ahead ? `, ${took(ahead)} ahead` : ""}`],
  ];
  replace(part,
    element("p", { class: `health ${status.overall}` }, element("strong", {}, health[status.overall] ?? status.overall)),
    account?.last_error ? element("p", {}, account.last_error.message) : "",
    element("dl", {}, ...rows.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])),
    element("h3", {}, "Calls of Google so far"),
    element("p", { class: "soft" }, "With those of this page, which shows the calendar."),
    element("dl", { class: "calls" }, ...calls.flatMap((name) => [element("dt", {}, name), element("dd", {}, String(counts[name] ?? 0))])));
}

function watched(calendar) {
  const status = channels[calendar?.channel_status ?? "none"];
  return calendar?.channel_expiry_ts ? `${status}, until ${instant(calendar.channel_expiry_ts)}` : status;
}

function pending(account, calendar) {
  const parts = [];
  if (calendar?.look_due) parts.push("a sync");
  if (account?.pending_looks) parts.push(`${counted(account.pending_looks)} to read`);
  if (account?.pending_writes) parts.push(`${counted(account.pending_writes)} to write`);
  return parts.join(", ") || "nothing";
}

const counted = (events) => (events === 1 ? "1 event" : `${events} events`);

function instant(at) {
  if (!at) return "never";
  return format({ weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(new Date(at));
}
