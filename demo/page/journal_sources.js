// How long after an entry its announcement is looked for.
const patience = 20_000;

// Arrivals notes when this page had which state of a poll, after the stream named it.
export class Arrivals {
  constructor(session) {
    this.noted = []; // {id, updated, at} in the time of this machine
    this.shown = new Map(); // by entry, in the time of the server
    session.on("poll", (poll) => {
      if (!poll?.updated_at) return;
      this.noted.push({ id: poll.id, updated: Date.parse(poll.updated_at), at: Date.now() });
      if (this.noted.length > 200) this.noted.shift();
    });
  }

  // of is when the page had the poll as an entry left it; undefined if it did not. It is
  // kept, since the demo's clock may be moved later.
  of(entry, ahead) {
    if (!this.shown.has(entry.id)) {
      const first = this.noted.find(({ id, updated }) => id === entry.poll_id && updated >= Date.parse(entry.at));
      if (first) this.shown.set(entry.id, first.at + ahead);
    }
    return this.shown.get(entry.id);
  }
}

// Deliveries finds the notification and the message that announced an entry. Both name
// the entry: the one in its id, the other in its button's address.
export class Deliveries {
  constructor(session) {
    this.session = session;
    this.found = new Map();
  }

  async of(entry, ahead) {
    const known = this.found.get(entry.id) ?? {};
    if (!entry.announcement || known.over) return known;
    const [app, discord] = await Promise.all([known.app ?? this.inApp(entry.announcement), known.discord ?? this.onDiscord(entry.announcement)]);
    const late = Date.now() + ahead > Date.parse(entry.at) + patience;
    const now = { app, discord, over: late || (app !== undefined && discord !== undefined) };
    this.found.set(entry.id, now);
    return now;
  }

  // inApp asks for each person in turn: the person who caused something is not notified.
  async inApp(announcement) {
    for (const name of [...this.session.names].reverse()) {
      const { notifications } = await this.session.v1("GET", "/notifications?limit=10", undefined, name);
      const one = notifications.find(({ id }) => id.endsWith(announcement));
      if (one) return Date.parse(one.created_at);
    }
    return undefined;
  }

  async onDiscord(announcement) {
    const messages = await this.session.discord("GET", `/channels/${this.session.world.discord_channel_id}/messages?limit=20`);
    const buttons = ({ components = [] }) => components.flatMap((row) => row.components ?? []);
    const one = messages.find((message) => buttons(message).some(({ url }) => url?.endsWith(`ref=${announcement}`)));
    return one && Date.parse(one.timestamp);
  }
}

// clockAhead is how far the demo's clock is ahead of this machine's, in milliseconds,
// from a duration as Go writes it: "6h5m0s".
export async function clockAhead(session) {
  const { offset } = await session.control("google", "GET", "/clock");
  const units = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  const parts = [...offset.matchAll(/([\d.]+)(h|ms|m|s)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit], 0);
}
