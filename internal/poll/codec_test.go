package poll_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
	"questscheduler/rules"
)

var (
	moment = time.Date(2026, 2, 2, 9, 30, 0, 123000, time.UTC)
	ten    = time.Date(2026, 2, 2, 10, 0, 0, 0, time.UTC)
	noon   = time.Date(2026, 2, 2, 12, 0, 0, 0, time.UTC)
	time1  = rules.Timed(ten, noon)
	day    = rules.Fingerprint{
		Start: ten.Truncate(24 * time.Hour).UnixMilli(), End: ten.Truncate(24 * time.Hour).Add(24 * time.Hour).UnixMilli(),
		AllDay: true,
	}
)

type fields = map[string]any

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %#v\nwant %#v", what, got, want)
	}
}

// open is an empty store whose transactions run twice.
func open(t interface {
	Helper()
	Fatalf(string, ...any)
}) store.Store {
	t.Helper()
	documents, err := memorystore.Open(poll.Queries)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return storetest.Rerun(documents)
}

// stored is a document after updates were written to one that holds before.
func stored(t *testing.T, before fields, updates ...store.Update) fields {
	t.Helper()
	documents, path := open(t), store.Doc("schedulers", "p1")
	err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		if err := tx.Create(path, before); err != nil || len(updates) == 0 {
			return err
		}
		return tx.Update(path, updates...)
	})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := documents.Get(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Data
}

// What is written to shared documents, name by name and type by type.
func TestSharedDocuments_AreWrittenAsTheWebAppReadsThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want fields }{
		"a new poll": {
			stored(t, poll.New(poll.Poll{
				ID: "p1", Title: "Session", Description: "Dice", CreatorID: "gm", CreatorEmail: "gm@example.com",
				ParticipantIDs: []string{"gm"}, Timezone: "Europe/Berlin", AllowLinkSharing: true, CreatedAt: moment,
			})),
			fields{
				"title": "Session", "description": "Dice", "creatorId": "gm", "creatorEmail": "gm@example.com", "status": "OPEN",
				"participantIds": []any{"gm"}, "pendingInvites": []any{}, "allowLinkSharing": true, "timezone": "Europe/Berlin",
				"winningSlotId": nil, "googleEventId": nil, "questingGroupId": nil, "questingGroupName": nil,
				"createdAt": moment, "updatedAt": moment,
				"calendarSync": fields{"recorded": fields{"at": moment, "status": "OPEN", "winningSlotId": nil}},
			},
		},
		"a slot of people": {
			stored(t, poll.EncodeSlot(poll.Slot{Start: ten, End: noon, Source: poll.SourcePoll})),
			fields{
				"start": "2026-02-02T10:00:00.000Z", "end": "2026-02-02T12:00:00.000Z",
				"stats": fields{"feasible": int64(0), "preferred": int64(0)},
			},
		},
		"a slot of the calendar": {
			stored(t, poll.EncodeSlot(poll.SlotAt("s1", time1))),
			fields{
				"start": "2026-02-02T10:00:00.000Z", "end": "2026-02-02T12:00:00.000Z",
				"stats": fields{"feasible": int64(0), "preferred": int64(0)}, "source": "calendar", "createdBy": "calendar-sync",
			},
		},
		"a slot of a whole day": {
			stored(t, poll.EncodeSlot(poll.SlotAt("s1", day))),
			fields{
				"start": "2026-02-02T00:00:00.000Z", "end": "2026-02-03T00:00:00.000Z",
				"allDay": true, "startDate": "2026-02-02", "endDate": "2026-02-03",
				"stats": fields{"feasible": int64(0), "preferred": int64(0)}, "source": "calendar", "createdBy": "calendar-sync",
			},
		},
		"a vote": {
			stored(t, fields{}, poll.VoteUpdates(poll.Vote{
				UserID: "ana", Email: "ana@example.com", Choices: map[string]string{"s1": poll.Preferred}, UpdatedAt: moment,
			})...),
			fields{"voterId": "ana", "userEmail": "ana@example.com", "votes": fields{"s1": "PREFERRED"}, "noTimesWork": false, "updatedAt": moment},
		},
		"a snapshot": {
			stored(t, poll.EncodeSnapshot("p1", poll.Snapshot{
				CreatedAt: moment, ExpiresAt: moment.Add(time.Hour), WinningSlotID: "s1", Participants: []string{"gm"},
				Votes: []poll.Vote{{UserID: "ana", Choices: map[string]string{"s1": poll.Feasible}, LastVotedFrom: "discord"}},
			})),
			fields{
				"createdAt": moment, "expiresAt": moment.Add(time.Hour), "winningSlotId": "s1", "participants": []any{"gm"}, "pendingInvites": []any{},
				"votes": []any{fields{
					"uid": "ana", "userEmail": nil, "userAvatar": nil, "votes": fields{"s1": "FEASIBLE"}, "noTimesWork": false,
					"source": nil, "lastVotedFrom": "discord",
				}},
			},
		},
		"what the journal knows": {
			stored(t, fields{}, poll.SetRecorded(poll.Recorded{At: moment, Status: rules.Finalized, WinningSlotID: "s1", EventID: "e1"})),
			fields{"calendarSync": fields{"recorded": fields{"at": moment, "status": "FINALIZED", "winningSlotId": "s1", "eventId": "e1"}}},
		},
		"what the journal knows of a past session": {
			stored(t, fields{}, poll.SetRecorded(poll.Recorded{At: moment, Status: rules.Finalized, Noted: "gone", NotedUpdated: moment})),
			fields{"calendarSync": fields{"recorded": fields{
				"at": moment, "status": "FINALIZED", "winningSlotId": nil, "noted": "gone", "notedUpdated": moment,
			}}},
		},
		"a baseline": {
			stored(t, fields{}, poll.SetBaseline(time1)),
			fields{"calendarSync": fields{"baseline": fields{
				"startUtc": "2026-02-02T10:00:00.000Z", "endUtc": "2026-02-02T12:00:00.000Z", "allDay": false,
				"fingerprint": "2026-02-02T10:00:00.000Z|2026-02-02T12:00:00.000Z|false",
			}}},
		},
		"a baseline of a whole day": {
			stored(t, fields{}, poll.SetBaseline(day)),
			fields{"calendarSync": fields{"baseline": fields{
				"startUtc": "2026-02-02T00:00:00.000Z", "endUtc": "2026-02-03T00:00:00.000Z", "allDay": true,
				"startDate": "2026-02-02", "endDate": "2026-02-03", "fingerprint": "2026-02-02|2026-02-03|true",
			}}},
		},
		"a reschedule": {
			stored(
				t, fields{},
				poll.SetRescheduled(&poll.Rescheduled{FromSlotID: "s1", ToSlotID: "s2", SnapshotID: "n1", At: moment, MovedAt: moment.Add(time.Hour)}),
			),
			fields{
				"calendarSync": fields{
					"rescheduled": fields{"fromSlotId": "s1", "toSlotId": "s2", "snapshotId": "n1", "at": moment, "movedAt": moment.Add(time.Hour)},
				},
			},
		},
		"an error": {
			stored(t, fields{}, poll.SetError(&poll.SyncError{At: moment, Code: rules.TokenExpired, Message: "Re-link."})),
			fields{"calendarSync": fields{"error": fields{"at": moment, "code": "token_expired", "message": "Re-link."}}},
		},
		"a cancellation": {
			stored(t, fields{}, poll.SetCancelled(&poll.Cancelled{At: moment, Reason: rules.ReasonManual})...),
			fields{
				"cancelled":    fields{"at": moment, "reason": "manual"},
				"calendarSync": fields{"cancelled": fields{"at": moment, "reason": "manual"}},
			},
		},
	} {
		same(t, name, c.got, c.want)
	}
}

// As the web app takes it.
func TestMarkedCancelled(t *testing.T) {
	t.Parallel()
	mark := fields{"at": moment}
	for _, c := range []struct {
		name   string
		data   fields
		marked bool
	}{
		{"nothing", fields{}, false},
		{"cancelled", fields{"cancelled": mark}, true},
		{"calendarSync.cancelled", fields{"calendarSync": fields{"cancelled": mark}}, true},
		{"cancelledAt, a time", fields{"cancelledAt": moment}, true},
		{"cancelledAt, milliseconds", fields{"cancelledAt": int64(1)}, true},
		{"cancelledAt, a double", fields{"cancelledAt": 1.5}, true},
		{"cancelledAt, a text", fields{"cancelledAt": "2026-02-01"}, true},
		{"cancelledAt, yes", fields{"cancelledAt": true}, true},
		{"cancelledAt, null", fields{"cancelledAt": nil}, false},
		{"cancelledAt, no", fields{"cancelledAt": false}, false},
		{"cancelledAt, zero", fields{"cancelledAt": int64(0)}, false},
		{"cancelledAt, zero as a double", fields{"cancelledAt": 0.0}, false},
		{"cancelledAt, an empty text", fields{"cancelledAt": ""}, false},
	} {
		p := poll.Decode(store.Document{Path: poll.Path("p"), Data: c.data})
		if got := p.MarkedCancelled(); got != c.marked {
			t.Errorf("%s: marked %t, want %t", c.name, got, c.marked)
		}
		if p.Unmarked().MarkedCancelled() {
			t.Errorf("%s: it is marked still", c.name)
		}
	}
}

// The web app keeps a badge while a field is there, whatever stands in it: what
// is over is removed, and null is not enough.
func TestWhatIsOver_IsRemoved(t *testing.T) {
	t.Parallel()
	before := fields{
		"cancelled": fields{"at": moment}, "cancelledAt": moment, "title": "Session",
		"calendarSync": fields{
			"state": "RESCHEDULED", "rescheduled": fields{"at": moment}, "error": fields{"code": "x"},
			"cancelled": fields{"at": moment},
		},
	}
	p := poll.Decode(store.Document{Path: poll.Path("p1"), Data: before}).Unmarked()
	p.Sync.Rescheduled, p.Sync.Error = nil, nil
	same(t, "what is left", stored(t, before, p.Changes()...), fields{"title": "Session", "calendarSync": fields{"state": "RESCHEDULED"}})
}

// Every write to a shared document leaves alone what it does not name.
func TestUnknownFields_Survive(t *testing.T) {
	t.Parallel()
	for name, updates := range map[string][]store.Update{
		"baseline":    {poll.SetBaseline(time1)},
		"reschedule":  {poll.SetRescheduled(&poll.Rescheduled{FromSlotID: "s1"})},
		"error":       {poll.SetError(&poll.SyncError{Code: rules.SyncFailed})},
		"cancelled":   poll.SetCancelled(&poll.Cancelled{At: moment}),
		"sync field":  {poll.SetSync("generation", 3)},
		"vote":        poll.VoteUpdates(poll.Vote{UserID: "ana"}),
		"moved slot":  poll.MoveSlot(day),
		"group":       poll.GroupUpdates(poll.Group{Name: "n"}),
		"nothing set": {poll.SetRescheduled(nil), poll.SetError(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unknown := fields{"deep": []any{fields{"x": int64(1)}}, "double": 1.5}
			after := store.Fields(stored(t, fields{
				"unknown": unknown, "calendarSync": fields{"unknown": unknown}, "stats": fields{"unknown": unknown},
				"discord": fields{"unknown": unknown},
			}, updates...))
			same(t, "at the top", after["unknown"], any(unknown))
			for _, below := range []string{"calendarSync", "stats", "discord"} {
				same(t, "below "+below, after.Map(below)["unknown"], any(unknown))
			}
		})
	}
}

func TestAPoll_IsReadAsTheWebAppWroteIt(t *testing.T) {
	t.Parallel()
	p := poll.Decode(store.Document{Path: poll.Path("p1"), Data: fields{
		"title": "Session", "description": "Dice", "creatorId": "gm", "creatorEmail": "gm@example.com", "status": "FINALIZED",
		"participantIds": []any{"gm", "ana"}, "pendingInvites": []any{"ben@example.com"}, "allowLinkSharing": true,
		"timezone": "Europe/Berlin", "timezoneMode": "auto", "winningSlotId": "s1", "googleEventId": "e1", "googleCalendarId": "c1",
		"finalizedAtMs": 1.77e12, "finalizedSlotPriorityAtMs": fields{"s1": 1.77e12, "s2": int64(5)},
		"questingGroupId": "g1", "questingGroupName": "Party",
		"discord": fields{
			"messageId": "m1", "channelId": "h1", "guildId": "u1", "messageUrl": "https://x", "notifyRoleId": "none",
			"lastSyncedHash": "abc", "pendingSyncError": "e",
		},
		"cancelled": fields{"at": moment, "reason": "other"},
		"calendarSync": fields{
			"state": "RESCHEDULED", "lastSyncedAt": moment, "lastEventFingerprint": time1.String(), "generation": 2.0, "observedUpdated": moment,
			"baseline":    fields{"startUtc": "2026-02-02T00:00:00.000Z", "endUtc": "2026-02-03T00:00:00.000Z", "fingerprint": day.String()},
			"rescheduled": fields{"fromSlotId": "s1", "toSlotId": "s2", "snapshotId": "n1", "at": moment},
			"cancelled":   fields{"at": moment, "reason": "manual"},
			"error":       fields{"at": moment, "code": "sync_failed", "message": "m"},
		},
		"createdAt": moment, "updatedAt": moment.Format(time.RFC3339Nano),
	}})
	same(t, "poll", poll.Bare(p), poll.Poll{
		ID: "p1", Title: "Session", Description: "Dice", CreatorID: "gm", CreatorEmail: "gm@example.com", Status: rules.Finalized,
		ParticipantIDs: []string{"gm", "ana"}, PendingInvites: []string{"ben@example.com"}, AllowLinkSharing: true, Timezone: "Europe/Berlin",
		WinningSlotID: "s1", GoogleEventID: "e1", GoogleCalendarID: "c1", GroupID: "g1", GroupName: "Party",
		FinalizedAt: time.UnixMilli(1.77e12).UTC(), SlotPriority: map[string]int64{"s1": 1_770_000_000_000, "s2": 5},
		Discord: poll.Card{
			MessageID: "m1", ChannelID: "h1", GuildID: "u1", MessageURL: "https://x", NotifyRoleID: "none", Hash: "abc", Error: "e",
		},
		Cancelled: &poll.Cancelled{At: moment, Reason: "other"},
		Sync: poll.Sync{
			State: rules.StateRescheduled, LastSyncedAt: moment, Applied: time1, Generation: 2, Observed: moment, Baseline: day,
			Rescheduled: &poll.Rescheduled{FromSlotID: "s1", ToSlotID: "s2", SnapshotID: "n1", At: moment, MovedAt: moment},
			Cancelled:   &poll.Cancelled{At: moment, Reason: "manual"},
			Error:       &poll.SyncError{At: moment, Code: rules.SyncFailed, Message: "m"},
		},
		CreatedAt: moment, UpdatedAt: moment,
	})
}

func TestSlotOfAPoll_WhichCanBeNoID_IsNone(t *testing.T) {
	t.Parallel()
	for _, named := range []string{"no/slot", "..", "__slot__", strings.Repeat("s", 1501)} {
		p := poll.Decode(store.Document{Path: poll.Path("p1"), Data: fields{
			"winningSlotId": named, "calendarSync": fields{"rescheduled": fields{"fromSlotId": named, "toSlotId": "s2"}},
		}})
		same(t, "winning slot", p.WinningSlotID, "")
		same(t, "slot before the move", p.Sync.Rescheduled.FromSlotID, "")
	}
}

func TestAbsentNullAndEmpty_MeanTheSame(t *testing.T) {
	t.Parallel()
	read := func(name string, data fields) any {
		doc := store.Document{Path: store.Doc("schedulers", "p1"), Data: data}
		switch name {
		case "poll":
			return poll.Bare(poll.Decode(doc))
		case "slot":
			return poll.DecodeSlot(doc)
		case "vote":
			return poll.DecodeVote(doc)
		default:
			return poll.DecodeGroup(doc)
		}
	}
	empty := map[string][]string{
		"poll": {"title", "description", "creatorId", "creatorEmail", "status", "participantIds", "pendingInvites",
			"allowLinkSharing", "timezone",
			"winningSlotId", "googleEventId", "googleCalendarId", "questingGroupId", "questingGroupName", "finalizedSlotPriorityAtMs", "discord",
			"cancelled", "calendarSync", "createdAt", "updatedAt"},
		"slot":  {"start", "end", "stats", "source", "createdBy", "allDay", "startDate", "endDate"},
		"vote":  {"userEmail", "userAvatar", "votes", "noTimesWork", "updatedAt", "source", "lastVotedFrom"},
		"group": {"name", "creatorId", "memberIds", "discord"},
	}
	for document, names := range empty {
		absent := read(document, fields{})
		for _, name := range names {
			for kind, value := range map[string]any{
				"null": nil, "an empty text": "", "an empty map": fields{}, "an empty list": []any{}, "another type": 17.5,
			} {
				if got := read(document, fields{name: value}); !reflect.DeepEqual(got, absent) {
					t.Errorf("%s: %s as %s: got %+v", document, name, kind, got)
				}
			}
		}
	}
	same(t, "status of a poll without one", poll.Decode(store.Document{Data: fields{}}).Status, rules.Open)
	same(t, "source of a slot without one", poll.DecodeSlot(store.Document{Data: fields{}}).Source, poll.SourcePoll)
}

func TestNumbers_ComeAsIntegersOrDoubles(t *testing.T) {
	t.Parallel()
	for _, n := range []any{int64(7), 7.0, 7.9} {
		slot := poll.DecodeSlot(store.Document{Data: fields{"stats": fields{"feasible": n, "preferred": n}}})
		same(t, "stats", []int64{slot.Feasible, slot.Preferred}, []int64{7, 7})
		p := poll.Decode(store.Document{Data: fields{"calendarSync": fields{"generation": n}, "finalizedSlotPriorityAtMs": fields{"s1": n}}})
		same(t, "generation", p.Sync.Generation, int64(7))
		same(t, "priority", p.SlotPriority, map[string]int64{"s1": 7})
	}
}

func TestOlderVotes_AreRead(t *testing.T) {
	t.Parallel()
	vote := poll.DecodeVote(store.Document{Path: poll.VotePath("p1", "ana"), Data: fields{"votes": fields{
		"feasible": "FEASIBLE", "preferred": "PREFERRED", "true": true, "false": false,
		"map-feasible": fields{"feasible": true}, "map-both": fields{"feasible": true, "preferred": true},
		"map-preferred": fields{"preferred": true},
		"map-none":      fields{"feasible": false}, "another-text": "MAYBE", "null": nil, "number": 1.0,
	}}})
	same(t, "voter", vote.UserID, "ana")
	same(t, "choices", vote.Choices, map[string]string{
		"feasible": "FEASIBLE", "preferred": "PREFERRED", "true": "FEASIBLE",
		"map-feasible": "FEASIBLE", "map-both": "PREFERRED", "map-preferred": "PREFERRED",
	})
	same(t, "chosen", vote.Chosen(), []string{"feasible", "map-both", "map-feasible", "map-preferred", "preferred", "true"})
	feasible, preferred := poll.Count([]poll.Vote{vote, {Choices: map[string]string{"map-both": poll.Feasible}}}, "map-both")
	same(t, "count", []int64{feasible, preferred}, []int64{2, 1})
}

// A slot that was a whole day and is timed again must not read as the day.
func TestAMovedSlot_ForgetsWhatItWas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to rules.Fingerprint }{
		"timed to a day": {time1, day}, "a day to timed": {day, time1}, "timed to timed": {time1, rules.Timed(noon, noon.Add(time.Hour))},
	} {
		data := stored(t, poll.EncodeSlot(poll.SlotAt("s1", c.from)), poll.MoveSlot(c.to)...)
		slot := poll.DecodeSlot(store.Document{Path: poll.SlotPath("p1", "s1"), Data: data})
		same(t, name, slot, poll.SlotAt("s1", c.to))
		if _, there := data["startDate"]; there != c.to.AllDay {
			t.Errorf("%s: startDate is there: %t", name, there)
		}
	}
}

func TestPeople_AreParticipantsAndMembers(t *testing.T) {
	t.Parallel()
	p := poll.Poll{ParticipantIDs: []string{"gm", "ana", "", "ana"}, PendingInvites: []string{"Ben@Example.com"}}
	same(t, "with a group", p.People(&poll.Group{MemberIDs: []string{"ben", "gm"}}), []string{"gm", "ana", "ben"})
	same(t, "without", p.People(nil), []string{"gm", "ana"})
	same(t, "participants stay as they are", p.ParticipantIDs, []string{"gm", "ana", "", "ana"})
	same(t, "invited", []bool{p.InvitedAs("ben@example.com"), p.InvitedAs(""), p.InvitedAs("cho@example.com")}, []bool{true, false, false})
}
