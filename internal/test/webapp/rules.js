// The official client under the rules of Firestore: it reads {project, firestore,
// people, steps} as JSON, does one step after the other, and prints the code of
// what refused each, "" where nothing did.
//
// A step is {who, does, with}: a person by name, an action below, and its arguments.
// The actions are the web app's own writes and queries, made by the same calls of the
// client, and the writes of its functions.
import {
  addDoc, arrayRemove, arrayUnion, collection, connectFirestoreEmulator, deleteDoc, deleteField, doc, documentId, getDoc, getDocs,
  getFirestore, onSnapshot, query, serverTimestamp, setDoc, updateDoc, where, writeBatch,
} from "firebase/firestore";
import { readFileSync } from "node:fs";
import { appOf } from "./person.js";

const merge = { merge: true };
const counts = { feasible: 0, preferred: 0 };

// actionsOf are a person's actions on polls and notices.
function actionsOf(store, me) {
  const at = (...path) => doc(store, ...path);
  const poll = (id) => at("schedulers", id);
  const below = (id, name) => collection(store, "schedulers", id, name);
  const list = (...filter) => getDocs(query(collection(store, "schedulers"), where(...filter)));
  const note = (id) => at("users", me.uid, "notifications", id);
  const isGone = (id) => ({
    pendingInvites: arrayRemove(me.email), [`pendingInviteMeta.${me.email}`]: deleteField(), updatedAt: serverTimestamp(),
  });
  return {
    create: ({ id, participants, group = null, more = {} }) => setDoc(poll(id), {
      title: "A dungeon", description: "", creatorId: me.uid, creatorEmail: me.email, status: "OPEN", participantIds: participants,
      pendingInvites: [], allowLinkSharing: false, timezone: "Europe/Berlin", timezoneMode: "auto", winningSlotId: null, googleEventId: null,
      questingGroupId: group, questingGroupName: group && "The party", createdAt: serverTimestamp(), ...more,
    }, merge),
    clone: ({ id }) => setDoc(poll(id), {
      title: "A dungeon (copy)", description: "", creatorId: me.uid, creatorEmail: me.email, status: "OPEN", participantIds: [me.uid],
      pendingInvites: [], timezone: "Europe/Berlin", timezoneMode: "auto", winningSlotId: null, googleEventId: null, googleCalendarId: null,
      createdAt: serverTimestamp(), questingGroupId: null, questingGroupName: null,
    }, merge),
    addSlot: ({ id, start, end }) => addDoc(below(id, "slots"), { start, end, stats: counts }),
    putSlot: ({ id, slot, start, end }) => setDoc(at("schedulers", id, "slots", slot), { start, end, stats: counts }, merge),
    vote: ({ id, votes, noTimesWork = false, more = {} }) => setDoc(at("schedulers", id, "votes", me.uid), {
      voterId: me.uid, userEmail: me.email, userAvatar: null, votes, noTimesWork, updatedAt: serverTimestamp(), ...more,
    }, merge),
    takeBack: ({ id }) => deleteDoc(at("schedulers", id, "votes", me.uid)),
    accept: ({ id }) => updateDoc(poll(id), { ...isGone(id), participantIds: arrayUnion(me.uid) }),
    join: ({ id }) => updateDoc(poll(id), { ...isGone(id), participantIds: arrayUnion(me.uid) }),
    async decline({ id }) {
      await deleteDoc(at("schedulers", id, "votes", me.uid));
      await updateDoc(poll(id), { ...isGone(id), participantIds: arrayRemove(me.uid) });
    },
    async leave({ id }) {
      await deleteDoc(at("schedulers", id, "votes", me.uid));
      await updateDoc(poll(id), { updatedAt: serverTimestamp(), participantIds: arrayRemove(me.uid) });
    },
    putOut: ({ id, uid }) => updateDoc(poll(id), { updatedAt: serverTimestamp(), participantIds: arrayRemove(uid) }),
    // Every slot is written, and the vote of everybody who chose the one that goes.
    async edit({ id, without, more = {} }) {
      const before = (await getDoc(poll(id))).data();
      await updateDoc(poll(id), {
        title: "Another dungeon", description: "With stairs", participantIds: before.participantIds, allowLinkSharing: true,
        timezone: "Europe/Paris", timezoneMode: "manual", questingGroupId: before.questingGroupId, questingGroupName: before.questingGroupName,
        participants: deleteField(), updatedAt: serverTimestamp(), ...more,
      });
      for (const slot of (await getDocs(below(id, "slots"))).docs) {
        await (slot.id === without ? deleteDoc(slot.ref) : setDoc(slot.ref, { start: slot.data().start, end: slot.data().end }, merge));
      }
      for (const vote of (await getDocs(below(id, "votes"))).docs) {
        const { [without]: taken, ...votes } = vote.data().votes;
        if (taken) {
          await setDoc(vote.ref, { votes, updatedAt: serverTimestamp() }, merge);
        }
      }
    },
    cancel: ({ id }) => updateDoc(poll(id), { status: "CANCELLED", updatedAt: serverTimestamp() }),
    restore: ({ id, status }) => updateDoc(poll(id), { status, updatedAt: serverTimestamp() }),
    reopen: ({ id }) => updateDoc(poll(id), { status: "OPEN", winningSlotId: null }),
    async remove({ id }) {
      for (const name of ["slots", "votes", "basicPolls"]) {
        await Promise.all((await getDocs(below(id, name))).docs.map((document) => deleteDoc(document.ref)));
      }
      await deleteDoc(poll(id));
    },
    read: ({ id }) => getDoc(poll(id)),
    readBelow: ({ id, name }) => getDocs(below(id, name)),
    mine: () => list("creatorId", "==", me.uid),
    withMe: () => list("participantIds", "array-contains", me.uid),
    inviting: () => list("pendingInvites", "array-contains", me.email),
    // The dashboard listens to its queries at once, and once more where React's
    // development build mounts it twice; the first refusal ends it.
    dashboard: () => new Promise((listened, refused) => {
      const queries = [
        ["creatorId", "==", me.uid], ["participantIds", "array-contains", me.uid], ["pendingInvites", "array-contains", me.email],
      ].map((filter) => query(collection(store, "schedulers"), where(...filter)));
      const listen = (heard) => queries.map((asked) => onSnapshot(asked, heard, refused));
      listen(() => {}).forEach((stop) => stop());
      let left = queries.length;
      listen(() => (left -= 1) === 0 && listened());
    }),
    ofGroups: ({ groups }) => list("questingGroupId", "in", groups),
    byIds: ({ ids }) => list(documentId(), "in", ids),
    everybodys: () => list("status", "==", "OPEN"),
    unread: () => getDocs(query(collection(store, "users", me.uid, "notifications"), where("dismissed", "==", false))),
    async noteReads({ ids }) {
      const batch = writeBatch(store);
      ids.forEach((id) => batch.update(note(id), { read: true }));
      await batch.commit();
    },
    noteDismissed: ({ id }) => updateDoc(note(id), { dismissed: true }),
    noteGone: ({ id }) => deleteDoc(note(id)),
    // What functions and the server write, whom no rule binds.
    writes: ({ path, data }) => setDoc(doc(store, path), data),
    invites: ({ id, email }) => updateDoc(poll(id), {
      pendingInvites: arrayUnion(email), [`pendingInviteMeta.${email}`]: { invitedByEmail: "gm@example.org" },
    }),
    finalises: ({ id, slot }) => updateDoc(poll(id), { status: "FINALIZED", winningSlotId: slot, googleEventId: "abc" }),
  };
}

const { project, firestore, people, steps } = JSON.parse(readFileSync(0, "utf8"));
const [host, port] = firestore.split(":");
const actions = {};
for (const [name, person] of Object.entries(people)) {
  const store = getFirestore(appOf(person, project));
  connectFirestoreEmulator(store, host, Number(port));
  actions[name] = actionsOf(store, person);
}
const codes = [];
for (const { who, does, with: what } of steps) {
  try {
    await actions[who][does](what ?? {});
    codes.push("");
  } catch (refused) {
    codes.push(refused.code ?? String(refused));
  }
}
process.stdout.write(JSON.stringify(codes));
process.exit(0);
