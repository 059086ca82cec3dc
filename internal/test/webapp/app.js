// A page that plays the web app: it shows one poll live, and does what the app
// does itself and what it calls, in the very shapes.
//
// The test puts window.places before it, and calls app.run.
import { initializeApp } from "firebase/app";
import { connectAuthEmulator, getAuth, GoogleAuthProvider, signInWithCredential } from "firebase/auth";
import {
  collection, connectFirestoreEmulator, deleteDoc, deleteField, doc, getDoc, getDocs, getFirestore, onSnapshot,
  serverTimestamp, setDoc, updateDoc, writeBatch,
} from "firebase/firestore";
import { getFunctions, httpsCallable } from "firebase/functions";

const { places } = window;
const firebase = initializeApp({ projectId: places.project, apiKey: "none", appId: "none" });
const auth = getAuth(firebase);
connectAuthEmulator(auth, `http://${places.auth}`, { disableWarnings: true });
const store = getFirestore(firebase);
const [host, port] = places.firestore.split(":");
connectFirestoreEmulator(store, host, Number(port));
const functions = getFunctions(firebase, places.functions);
const call = async (name, data) => (await httpsCallable(functions, name)(data)).data;

let pollId = new URLSearchParams(location.search).get("poll");
const poll = () => doc(store, "schedulers", pollId);
const slots = () => collection(store, "schedulers", pollId, "slots");
const show = (id, text) => (document.getElementById(id).textContent = text);

// The badge is what the app shows, whatever the state says: see "What it shows".
function badgeOf(data) {
  const sync = data.calendarSync ?? {};
  if (sync.state === "CANCELLED" || sync.cancelled?.at || data.cancelledAt || data.cancelled?.at) {
    return "Cancelled";
  }
  return sync.state === "RESCHEDULED" || sync.rescheduled ? "Rescheduled" : "";
}

let stop = () => {};

// watch shows the poll and its winning slot, as they change.
function watch(id) {
  stop();
  pollId = id;
  let data, times = {};
  const draw = () => {
    show("status", data ? data.status : "gone");
    show("badge", data ? badgeOf(data) : "");
    show("time", data?.winningSlotId ? (times[data.winningSlotId]?.start ?? "") : "");
    show("event", data?.googleEventId ? btoa(data.googleEventId) : "");
  };
  const stopPoll = onSnapshot(poll(), (snapshot) => { data = snapshot.data(); draw(); }, (refused) => { data = undefined; draw(); });
  const stopSlots = onSnapshot(slots(), (all) => {
    times = Object.fromEntries(all.docs.map((slot) => [slot.id, slot.data()]));
    draw();
  }, () => {});
  stop = () => { stopPoll(); stopSlots(); };
}

// The actions of a person in the app. Each returns what the page then shows as
// #result.
const actions = {
  // As the app does by a window of Google's: what comes of that is the credential.
  async signIn({ credential }) {
    const { user } = await signInWithCredential(auth, GoogleAuthProvider.credential(credential));
    return { uid: user.uid, email: user.email };
  },
  async create({ title, start, end }) {
    const id = crypto.randomUUID();
    const person = auth.currentUser;
    const batch = writeBatch(store);
    batch.set(doc(store, "schedulers", id), {
      title, description: "", creatorId: person.uid, creatorEmail: person.email, status: "OPEN", participantIds: [person.uid],
      pendingInvites: [], allowLinkSharing: false, timezone: "Europe/Berlin", timezoneMode: "auto", winningSlotId: null, googleEventId: null,
      questingGroupId: null, questingGroupName: null, createdAt: serverTimestamp(),
    });
    const slot = doc(collection(store, "schedulers", id, "slots"));
    batch.set(slot, { start, end, stats: { feasible: 0, preferred: 0 } });
    await batch.commit();
    watch(id);
    return { id, slot: slot.id };
  },
  async vote({ slot }) {
    const person = auth.currentUser;
    await setDoc(doc(store, "schedulers", pollId, "votes", person.uid), {
      voterId: person.uid, userEmail: person.email, userAvatar: null, votes: { [slot]: "PREFERRED" }, noTimesWork: false, updatedAt: serverTimestamp(),
    });
  },
  link: async () => { location.assign((await call("googleCalendarStartAuth", null)).authUrl); },
  calendars: async () => call("googleCalendarListCalendars", null),
  async finalise({ slot, createCalendarEvent }) {
    const { requiredPolls } = await call("getRequiredEmbeddedPollFinalizeSummary", { schedulerId: pollId });
    if (requiredPolls.length > 0) {
      throw new Error("votes are wanted first");
    }
    const { title, description } = (await getDoc(poll())).data();
    const { start, end } = (await getDoc(doc(slots(), slot))).data();
    return call("googleCalendarFinalizePoll", {
      schedulerId: pollId, slotId: slot, calendarId: null, title, description, durationMinutes: (new Date(end) - new Date(start)) / 60000,
      attendees: [auth.currentUser.email], deleteOldEvent: true, createCalendarEvent,
    });
  },
  cancel: async () => updateDoc(poll(), { status: "CANCELLED", updatedAt: serverTimestamp() }),
  async restore() {
    const { winningSlotId } = (await getDoc(poll())).data();
    await updateDoc(poll(), { status: winningSlotId ? "FINALIZED" : "OPEN", updatedAt: serverTimestamp() });
  },
  async reopen({ deleteEvent }) {
    const result = deleteEvent ? await call("googleCalendarDeleteEvent", { schedulerId: pollId }) : {};
    await updateDoc(poll(), { status: "OPEN", winningSlotId: null });
    return result;
  },
  async edit({ title }) {
    const batch = writeBatch(store);
    const data = (await getDoc(poll())).data();
    batch.update(poll(), {
      title, description: data.description, participantIds: data.participantIds, allowLinkSharing: data.allowLinkSharing, timezone: data.timezone,
      timezoneMode: data.timezoneMode, questingGroupId: null, questingGroupName: null, updatedAt: serverTimestamp(), participants: deleteField(),
    });
    for (const slot of (await getDocs(slots())).docs) {
      batch.update(slot.ref, { start: slot.data().start, end: slot.data().end });
    }
    await batch.commit();
  },
  async remove() {
    for (const below of ["slots", "votes"]) {
      for (const document of (await getDocs(collection(store, "schedulers", pollId, below))).docs) {
        await deleteDoc(document.ref);
      }
    }
    await deleteDoc(poll());
  },
};

let runs = 0;

window.app = {
  // run runs an action and shows its number and outcome in #result.
  run(name, data) {
    const number = ++runs;
    actions[name](data ?? {}).then(
      (result) => show("result", JSON.stringify({ number, result: result ?? {} })),
      (failure) => show("result", JSON.stringify({ number, code: failure.code ?? "", message: failure.message })),
    );
    return number;
  },
};

// A person who signed in on another page before is still signed in.
await auth.authStateReady();
if (pollId) {
  watch(pollId);
}
show("ready", "ready");
