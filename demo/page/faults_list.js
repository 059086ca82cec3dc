import { call } from "./http.js";

// faults are what the visitor can break. Each has what happens and how it recovers, in
// words, and plant, which breaks it. rule is the simulator's fault, by which its state
// is found again; moved says that it shows once the session is moved.
export function faults(session) {
  const { calendar_id: calendar } = session.organiser;
  return [
    {
      id: "drop", title: "Lose a push", button: "Drop the next push", moved: true,
      rule: { match: "push", calendar, drop: true, times: 1 },
      text: "Google’s next message about the calendar never arrives. The poll stays behind until somebody checks the calendar, or until the server’s own check every six hours.",
    },
    {
      id: "delay", title: "Delay pushes", button: "Delay three pushes by 3 s", moved: true,
      rule: { match: "push", calendar, delay_ms: 3000, times: 3 },
      text: "Google’s next three messages arrive three seconds late. The poll follows as soon as they do.",
    },
    {
      id: "outage", title: "Google is down", button: "Answer five listings with 503", moved: true,
      // The page lists the calendar without a sync token, so it does not use these up.
      rule: { match: "events.list", calendar, token: true, status: 503, times: 5 },
      text: "The server’s next five calls for changes fail. It waits longer before each new attempt, and catches up within half a minute.",
    },
    {
      id: "tokens", title: "Expire sync tokens", button: "Expire all sync tokens", moved: true,
      plant: () => session.control("google", "POST", "/expire-sync-tokens", {}),
      text: "Google no longer knows what the server read last. The next sync is answered 410, reads the whole calendar, and misses nothing.",
    },
    {
      id: "revoke", title: "Revoke the access", button: "Revoke gm’s grant", link: "Link gm’s calendar again",
      plant: async () => {
        await session.control("google", "POST", "/revoke", { user: "gm", keep: session.organiser.google_token });
        await checkNow(session);
      },
      text: "The game master takes the server’s access away. The poll says that it is paused. Move the session now; link the account again, and the poll catches up.",
    },
    {
      id: "channel", title: "End the watch channel", button: "Grant 20 minutes, and let them pass", moved: true,
      plant: () => endChannel(session),
      text: "Google promises to report changes for 20 minutes only, and they pass: the demo’s clock moves on. No push comes, until the server opens a new channel, within a minute.",
    },
    {
      id: "worker", title: "Restart the worker", button: "Stop the worker for 3 s", moved: true,
      plant: () => call("POST", "/demo/restart-worker", { body: { after_ms: 3000 } }),
      text: "The part of the server that works on syncs and announcements stops for three seconds. What comes in during that time waits in the queue, and is done once.",
    },
  ];
}

// endChannel has every calendar watched anew for as short as Google grants, and moves
// the clock past that.
async function endChannel(session) {
  await session.control("google", "POST", "/channels", { longest_grant: "20m" });
  await call("POST", "/admin/watches/force-register", { authorization: `Bearer ${session.world.admin_token}` });
  await session.control("google", "POST", "/clock", { advance: "21m" });
  await session.control("google", "POST", "/channels", { longest_grant: "off" });
}

// followed is the poll that the panel is about: the chosen one if a calendar event
// belongs to it, else the one that the demo begins with.
export function followed(session) {
  return session.poll?.google_event_id ? session.pollID : session.world.polls.linked;
}

// checkNow has the server read the poll's calendar, as its creator asks for it.
export function checkNow(session) {
  return session.v1("POST", `/polls/${followed(session)}/sync`, undefined, "gm");
}

// moveAnHour moves the event of a poll by an hour, an all-day one by a day, and takes
// its deletion back.
export async function moveAnHour(session, { calendar, event }) {
  const path = `/calendars/${encodeURIComponent(calendar)}/events/${encodeURIComponent(event)}`;
  const now = await session.google("GET", path);
  const later = ({ date, dateTime }) => date ? { date: new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10) }
    : { dateTime: new Date(Date.parse(dateTime) + 3_600_000).toISOString() };
  const body = now.status === "cancelled" ? { status: "confirmed" } : { start: later(now.start), end: later(now.end) };
  return session.google("PATCH", path, body);
}
