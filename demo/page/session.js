import { call, events } from "./http.js";
import { ownZone, useZone } from "./zone.js";

// Session is what the parts of the page share: who the visitor is, the polls as that
// person reads them, and calls to the server and the simulators. It tells listeners:
//
//   person   the visitor became another member of the party
//   poll     the chosen poll changed, or another was chosen
//   act      the visitor did something; detail is {text, at}
//   event    the visitor put a session into the calendar; detail is when it starts
class Session extends EventTarget {
  constructor(world) {
    super();
    this.world = world;
    this.names = ["gm", "ana", "ben", "cho"].filter((name) => world.users[name]);
    this.me = this.names[0];
    this.pollID = new URLSearchParams(location.search).get("poll") ?? world.polls.linked;
    this.polls = new Map(); // by id, as the visitor reads them
  }

  get organiser() { return this.world.users.gm; }
  get poll() { return this.polls.get(this.pollID) ?? null; }

  // linkAgain is where the game master gives the server access to the calendar again.
  get linkAgain() { return `/demo/link?user=gm&account=${this.organiser.account_id ?? ""}`; }

  on(name, act) { this.addEventListener(name, (event) => act(event.detail)); }
  tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  // say shows a sentence in the status line, which screen readers read out.
  // A link may follow it.
  say(text, kind = "", link = "") {
    const line = document.getElementById("status");
    line.replaceChildren(text, " ", link);
    line.dataset.kind = kind;
  }

  // acts does what the visitor asked for, says so, and says what went wrong otherwise.
  // It returns what work gave, or undefined after a failure.
  async acts(text, work) {
    const at = Date.now();
    try {
      const done = await work();
      this.say(text);
      this.tell("act", { text, at });
      return done;
    } catch (problem) {
      this.say(`That did not work: ${problem.message}`, "problem");
      this.tell("act", { text, at });
      return undefined;
    }
  }

  // v1 calls the API as a member of the party and returns the answer's data.
  async v1(method, path, body, name = this.me) {
    const answer = await call(method, `/v1${path}`, { body, authorization: `Bearer ${this.world.users[name].token}` });
    return answer?.data;
  }

  // google calls the simulated Calendar API as the owner of an account. With an etag, a
  // write is refused (412) if the event has changed since.
  google(method, path, body, account = this.organiser, etag = "") {
    const headers = etag ? { "If-Match": etag } : {};
    return call(method, `${this.world.google}/calendar/v3${path}`, { body, headers, authorization: `Bearer ${account.google_token}` });
  }

  // discord calls the simulated Discord API as the bot.
  discord(method, path) {
    return call(method, `${this.world.discord}/api/v9${path}`, { authorization: `Bot ${this.world.discord_token}` });
  }

  // control calls a simulator's controls, such as POST /_sim/faults. It names the simulator, google or discord.
  control(simulator, method, path, body) {
    return call(method, `${this.world[simulator]}/_sim${path}`, { body });
  }

  choose(pollID) {
    this.pollID = pollID;
    this.tell("poll");
  }

  async become(name) {
    this.me = name;
    this.polls.clear();
    this.stream?.abort();
    await this.list();
    this.tell("person");
    this.tell("poll");
  }

  async list() {
    const { polls } = await this.v1("GET", "/polls?limit=50");
    for (const poll of polls) this.polls.set(poll.id, poll);
  }

  // listen follows the visitor's polls until the page is left. After a lost connection,
  // such as a restart of the server, it lists them again.
  async listen() {
    for (;;) {
      const name = this.me;
      this.stream = new AbortController();
      try {
        const { signal } = this.stream;
        await events("/v1/stream", { authorization: `Bearer ${this.world.users[name].token}`, signal }, (kind, data) => this.take(kind, data, name));
      } catch (problem) {
        if (problem.name !== "AbortError") this.say("The server does not answer; trying again.", "problem");
      }
      if (name === this.me) await new Promise((resume) => setTimeout(resume, 1000));
    }
  }

  // take handles an event of a person's stream. The stream names a poll that changed, and
  // this reads it. An error ends the stream, so that the polls are listed again.
  async take(kind, { id }, name) {
    if (kind === "ready") await this.list();
    const poll = kind === "poll" ? await this.v1("GET", `/polls/${id}`, undefined, name) : undefined;
    if (name !== this.me) return; // the visitor became somebody else
    if (poll) this.polls.set(id, poll);
    if (kind === "removed") this.polls.delete(id);
    this.tell("poll", poll);
  }

  // follow keeps a part current: it calls refresh now, in the seconds after anything
  // happened, and every few seconds while the page is visible, but never twice at once.
  // The first call's error is the caller's; later ones are shown.
  async follow(refresh) {
    let running = false;
    let again = false;
    const run = async () => {
      if (running) { again = true; return; }
      running = true;
      do {
        again = false;
        await refresh().catch((problem) => this.say(problem.message, "problem"));
      } while (again);
      running = false;
    };
    const soon = () => { for (const delay of [0, 150, 400, 1000, 2500]) setTimeout(run, delay); };
    await refresh();
    for (const name of ["person", "poll", "act"]) this.on(name, soon);
    setInterval(() => { if (!document.hidden) run(); }, 3000);
  }
}

// openSession asks the server where everything is, reads the visitor's polls, and sets
// the page's time zone.
export async function openSession() {
  const session = new Session(await call("GET", "/demo/world"));
  await session.list();
  session.zone = session.polls.get(session.world.polls.linked)?.timezone ?? "UTC";
  useZone(new URLSearchParams(location.search).get("zone") === "own" ? ownZone() : session.zone);
  return session;
}
