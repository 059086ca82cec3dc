package poll_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/rules"
)

// Draws of values as documents hold them.
var (
	text    = rapid.StringN(0, 12, 40)
	id      = rapid.StringMatching(`[a-z0-9]{1,8}(-[a-z0-9]{1,4})?`)
	texts   = rapid.SliceOfN(rapid.StringN(1, 8, 20), 1, 4)
	instant = rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "µs")).UTC()
	})
	perhaps     = rapid.OneOf(rapid.Just(time.Time{}), instant)
	fingerprint = rapid.Custom(func(t *rapid.T) rules.Fingerprint {
		start, length := rapid.Int64Range(1, 4e12).Draw(t, "start"), rapid.Int64Range(0, 1e9).Draw(t, "length")
		if rapid.Bool().Draw(t, "all day") {
			const day = 24 * 60 * 60 * 1000
			return rules.Fingerprint{Start: start / day * day, End: (start/day + 1 + length/day) * day, AllDay: true}
		}
		return rules.Fingerprint{Start: start, End: start + length}
	})
	choices = rapid.MapOfN(id, rapid.SampledFrom([]string{poll.Feasible, poll.Preferred}), 0, 4)
)

// There and back: what is written to a store reads the same.
func TestDocuments_ReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	for name, roundTrip := range map[string]func(t *rapid.T) (wrote, read any){
		"slot": func(t *rapid.T) (any, any) {
			f := fingerprint.Draw(t, "time")
			slot := poll.Slot{
				ID: id.Draw(t, "id"), Start: f.StartTime(), End: f.EndTime(), AllDay: f.AllDay, Source: poll.SourcePoll,
				Feasible: rapid.Int64Range(0, 9).Draw(t, "feasible"), Preferred: rapid.Int64Range(0, 9).Draw(t, "preferred"),
			}
			if rapid.Bool().Draw(t, "by the calendar") {
				slot.Source, slot.CreatedBy = poll.SourceCalendar, poll.CreatedBySync
			}
			if slot.Fingerprint() != f {
				t.Errorf("the slot's fingerprint is %v, want %v", slot.Fingerprint(), f)
			}
			return slot, poll.DecodeSlot(kept(t, poll.SlotPath("p1", slot.ID), poll.EncodeSlot(slot)))
		},
		"snapshot": func(t *rapid.T) (any, any) {
			wrote := &poll.Snapshot{
				ID: id.Draw(t, "id"), CreatedAt: instant.Draw(t, "created"), ExpiresAt: instant.Draw(t, "expires"),
				WinningSlotID: text.Draw(t, "winning"), Participants: texts.Draw(t, "people"), PendingInvites: texts.Draw(t, "invites"),
			}
			for range rapid.IntRange(1, 3).Draw(t, "votes") {
				wrote.Votes = append(wrote.Votes, poll.Vote{
					UserID: id.Draw(t, "uid"), Email: text.Draw(t, "email"), Avatar: text.Draw(t, "avatar"), Choices: choices.Draw(t, "choices"),
					NoTimesWork: rapid.Bool().Draw(t, "none"), Source: text.Draw(t, "source"), LastVotedFrom: text.Draw(t, "from"),
				})
			}
			documents := open(t)
			put(t, documents, poll.SnapshotPath("p1", wrote.ID), poll.EncodeSnapshot("p1", *wrote))
			read, err := poll.LoadSnapshot(context.Background(), documents, "p1", wrote.ID)
			if err != nil {
				t.Fatal(err)
			}
			return wrote, read
		},
		"journal entry": func(t *rapid.T) (any, any) {
			wrote := poll.JournalEntry{
				Made: 1, // its store's first commit
				ID:   id.Draw(t, "id"), PollID: "p1", Observed: rapid.Bool().Draw(t, "observed"), CreatorID: text.Draw(t, "creator"),
				At: instant.Draw(t, "at"), Trace: text.Draw(t, "trace"), Trigger: text.Draw(t, "hint"), Who: text.Draw(t, "who"),
				Command: rapid.SampledFrom([]rules.Command{"", rules.CommandFinalise}).Draw(t, "command"), EventState: text.Draw(t, "state"),
				Fingerprint: fingerprint.Draw(t, "fingerprint"), Updated: perhaps.Draw(t, "updated"), EventID: text.Draw(t, "event"),
				CalendarID: text.Draw(t, "calendar"), AccountID: text.Draw(t, "account"), Before: fingerprint.Draw(t, "before"),
				Baseline: fingerprint.Draw(t, "baseline"), Decision: rules.Reschedule, Reason: text.Draw(t, "reason"),
				Fence: rapid.Int64Range(0, 99).Draw(t, "fence"), Status: rules.Finalized, State: rules.StateOK, Error: rules.SyncFailed,
				Generation: rapid.Int64Range(0, 99).Draw(t, "generation"), WinningSlotID: text.Draw(t, "winning"),
				Rescheduled: rapid.Bool().Draw(t, "rescheduled"), Cancelled: rapid.Bool().Draw(t, "cancelled"),
				Announcement: text.Draw(t, "announcement"),
			}
			if rapid.Bool().Draw(t, "decided") {
				wrote.Inputs = &poll.Inputs{
					Now: instant.Draw(t, "now"), Winning: fingerprint.Draw(t, "winning time"), WatchLive: rapid.Bool().Draw(t, "watch"),
					Confirmed: rapid.Bool().Draw(t, "confirmed"),
				}
			}
			return wrote, poll.DecodeEntry(kept(t, poll.EntryPath("p1", wrote.ID), poll.EncodeEntry(wrote)))
		},
		"intent": func(t *rapid.T) (any, any) {
			wrote := poll.Intent{
				Made: 1, // its store's first commit
				Kind: poll.IntentInsert, PollID: id.Draw(t, "poll"), Generation: rapid.Int64Range(0, 99).Draw(t, "generation"),
				AccountID: text.Draw(t, "account"), CalendarID: text.Draw(t, "calendar"), EventID: id.Draw(t, "event"), Due: instant.Draw(t, "due"),
				Until: perhaps.Draw(t, "until"), Asked: rapid.Int64Range(0, 9).Draw(t, "asked"),
				Attempts: rapid.Int64Range(0, 9).Draw(t, "attempts"), FailedSince: perhaps.Draw(t, "failed since"), Error: text.Draw(t, "error"),
				CreatedAt: instant.Draw(t, "created"), Trace: text.Draw(t, "trace"),
				Session: poll.Session{
					SlotID: id.Draw(t, "slot"), Start: instant.Draw(t, "start"), End: instant.Draw(t, "end"), AllDay: rapid.Bool().Draw(t, "all day"),
					Title: text.Draw(t, "title"), Description: text.Draw(t, "text"), Timezone: text.Draw(t, "zone"), Attendees: texts.Draw(t, "attendees"),
					KeepOld: rapid.Bool().Draw(t, "keep"), Actor: text.Draw(t, "actor"),
				},
			}
			if rapid.Bool().Draw(t, "deletion") {
				wrote.Kind, wrote.Session = poll.IntentDelete, poll.Session{}
			}
			return wrote, poll.DecodeIntent(kept(t, wrote.Path(), poll.EncodeIntent(wrote)))
		},
		"index entry": func(t *rapid.T) (any, any) {
			wrote := poll.IndexEntry{
				Made:    1, // its store's first commit
				EventID: id.Draw(t, "event"), PollID: text.Draw(t, "poll"), AccountID: text.Draw(t, "account"), CreatorID: text.Draw(t, "creator"),
				CalendarID: text.Draw(t, "calendar"), Generation: rapid.Int64Range(0, 99).Draw(t, "generation"), CreatedAt: instant.Draw(t, "created"),
			}
			path := poll.IndexPath(wrote.EventID)
			if rapid.Bool().Draw(t, "shared") {
				path = poll.SharedIndexPath(wrote.EventID, wrote.AccountID, wrote.CalendarID)
			}
			return wrote, poll.DecodeIndex(kept(t, path, poll.EncodeIndex(wrote)))
		},
		"announcement": func(t *rapid.T) (any, any) {
			wrote := poll.Announcement{
				Made:   1, // its store's first commit
				PollID: id.Draw(t, "poll"), Wanted: message(t), Due: instant.Draw(t, "due"), Announced: message(t), Before: message(t),
				Delivering: message(t),
				Channels: map[string]poll.Delivery{
					"in-app": {Ref: text.Draw(t, "ref"), MessageID: text.Draw(t, "message"), Error: text.Draw(t, "error"), At: instant.Draw(t, "at")},
				},
				Attempts: rapid.Int64Range(0, 9).Draw(t, "attempts"), AgainAt: instant.Draw(t, "again"),
			}
			documents, path := open(t), poll.AnnouncementPath(wrote.PollID)
			for _, updates := range [][]store.Update{
				poll.KnownUpdates(wrote.PollID, wrote.Announced), poll.PendingUpdates(wrote.PollID, wrote.Wanted, wrote.Due),
				append(poll.DeliveryUpdates(wrote.Delivering, wrote.Attempts, wrote.AgainAt), poll.BeforeUpdate(wrote.Before)),
				{poll.DeliveryUpdate("in-app", wrote.Channels["in-app"])},
			} {
				write(t, documents, func(tx store.Tx) error { return tx.Merge(path, updates...) })
			}
			read, err := poll.LoadAnnouncement(context.Background(), documents, wrote.PollID)
			if err != nil {
				t.Fatal(err)
			}
			return wrote, read
		},
	} {
		t.Run(name, func(t *testing.T) { // one after the other: rapid's draws share what they remember
			rapid.Check(t, func(r *rapid.T) {
				wrote, read := roundTrip(r)
				same(t, name, read, wrote)
			})
		})
	}
}

func message(t *rapid.T) poll.Message {
	return poll.Message{
		Ref: text.Draw(t, "ref"), Actor: text.Draw(t, "actor"), Trace: text.Draw(t, "trace"), At: perhaps.Draw(t, "at"),
		Updated: perhaps.Draw(t, "updated"),
		State: rules.AnnouncedState{
			Status: rules.Finalized, Generation: rapid.Int64Range(0, 99).Draw(t, "generation"),
			At: rapid.OneOf(rapid.Just(rules.Fingerprint{}), fingerprint).Draw(t, "time"), Rescheduled: rapid.Bool().Draw(t, "rescheduled"),
			CancelledAt: perhaps.Draw(t, "cancelledAt"),
		},
	}
}

// A delivered announcement is no longer pending, and keeps its reference.
func TestAnAnnouncement_IsSettledOnce(t *testing.T) {
	t.Parallel()
	documents, path := open(t), poll.AnnouncementPath("p1")
	first := poll.Message{Ref: "jrn_1", State: rules.AnnouncedState{Status: rules.Finalized, At: time1}, At: moment}
	merge := func(updates []store.Update) poll.Announcement {
		t.Helper()
		write(t, documents, func(tx store.Tx) error { return tx.Merge(path, updates...) })
		announcement, err := poll.LoadAnnouncement(t.Context(), documents, "p1")
		if err != nil {
			t.Fatal(err)
		}
		return announcement
	}
	due := func(at time.Time) int {
		t.Helper()
		pending, err := store.Collect(poll.DueAnnouncements(t.Context(), documents, at))
		if err != nil {
			t.Fatal(err)
		}
		return len(pending)
	}
	same(t, "before it is due", due(moment), 0)
	merge(poll.PendingUpdates("p1", first, noon))
	same(t, "before it is due", due(noon.Add(-time.Second)), 0)
	same(t, "when it is due", due(noon), 1)
	merge(poll.DeliveryUpdates(first, 1, noon.Add(time.Minute)))
	same(t, "while a run delivers it", due(noon), 0)
	same(t, "after a run that died", due(noon.Add(time.Minute)), 1)
	after := merge(poll.AnnouncedUpdates(first, true))
	same(t, "pending", due(noon.Add(time.Hour)), 0)
	same(t, "announced", after, poll.Announcement{
		Made: 1, PollID: "p1", Wanted: first, Announced: first, Channels: map[string]poll.Delivery{},
	})
	same(t, "announced with something newer", merge(poll.AnnouncedUpdates(first, false)).Due, noon)
}

// A pending card leaves the announcement and its due time as they are.
func TestPendingCard_UntilItIsRecorded_IsListed(t *testing.T) {
	t.Parallel()
	documents := open(t)
	merge := func(id string, updates ...store.Update) {
		t.Helper()
		write(t, documents, func(tx store.Tx) error { return tx.Merge(poll.AnnouncementPath(id), updates...) })
	}
	pending := func() (ids []string) {
		t.Helper()
		for announcement, err := range poll.DueAnnouncements(t.Context(), documents, noon) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, announcement.Path.ID())
		}
		return ids
	}
	fail := func(id string, again time.Time) {
		t.Helper()
		announcement, err := poll.LoadAnnouncement(t.Context(), documents, id)
		if err != nil {
			t.Fatal(err)
		}
		merge(id, announcement.FailedUpdates(again)...)
	}
	wanted := poll.Message{Ref: "jrn_1", State: rules.AnnouncedState{Status: rules.Cancelled}, At: moment}
	merge("p1", poll.PendingUpdates("p1", wanted, noon.Add(time.Second))...)
	same(t, "pending", pending(), []string(nil))
	merge("p1", poll.CardPendingUpdates("p1", "crd_1", "trc_1", noon)...)
	merge("p2", poll.CardPendingUpdates("p2", "crd_2", "", noon)...)
	same(t, "pending", pending(), []string{"p1", "p2"})
	merge("p2", poll.PendingUpdates("p2", wanted, noon)...)
	same(t, "pending, a due announcement first", pending(), []string{"p2", "p1"})
	fail("p1", noon.Add(time.Second))
	same(t, "pending, and none that failed just now", pending(), []string{"p2"})
	merge("p1", poll.CardPendingUpdates("p1", "crd_3", "trc_3", noon)...)
	same(t, "pending, also after a change during the wait", pending(), []string{"p2"})
	fail("p2", noon.Add(time.Second))
	same(t, "pending, and a message whose card failed", pending(), []string{"p2"})
	merge("p2", poll.CardDoneUpdates()...)
	same(t, "pending, and none that failed just now", pending(), []string(nil))
	fail("p2", noon)
	same(t, "pending after its wait", pending(), []string{"p2"})
	merge("p1", poll.RecoveredUpdates()...)
	merge("p1", poll.CardDoneUpdates()...)
	same(t, "pending", pending(), []string{"p2"})
	announcement, err := poll.LoadAnnouncement(t.Context(), documents, "p1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the announcement", announcement, poll.Announcement{
		Made: 1, PollID: "p1", Wanted: wanted, Due: noon.Add(time.Second), Channels: map[string]poll.Delivery{},
	})
}

func put(t rapid.TB, documents store.Store, path store.Path, data map[string]any) {
	t.Helper()
	write(t, documents, func(tx store.Tx) error { return tx.Create(path, data) })
}

func write(t rapid.TB, documents store.Store, fn func(tx store.Tx) error) {
	t.Helper()
	if err := documents.Run(context.Background(), func(_ context.Context, tx store.Tx) error { return fn(tx) }); err != nil {
		t.Fatal(err)
	}
}

// kept is a document after it was written and read.
func kept(t rapid.TB, path store.Path, data map[string]any) store.Document {
	t.Helper()
	documents := open(t)
	put(t, documents, path, data)
	document, err := documents.Get(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// However many messages and cards wait in an outage, a drain reads none of them before their time.
func TestDueAnnouncements_InAnOutage_ReadWhatIsDueAlone(t *testing.T) {
	t.Parallel()
	documents := storetest.Count(open(t))
	wanted := poll.Message{Ref: "jrn_1", State: rules.AnnouncedState{Status: rules.Cancelled}, At: moment}
	for n := range 60 {
		id := fmt.Sprint("p", n)
		announced, card := poll.PendingUpdates(id, wanted, moment), poll.CardPendingUpdates(id, "crd_1", "", moment)
		for _, updates := range [][][]store.Update{
			{announced}, {card}, {announced, poll.DeliveryUpdates(wanted, 1, moment), card},
		}[n%3] {
			write(t, documents, func(tx store.Tx) error { return tx.Merge(poll.AnnouncementPath(id), updates...) })
		}
	}
	read := func(at time.Time) (found []store.Document) {
		t.Helper()
		documents.Reset()
		found, err := store.Collect(poll.DueAnnouncements(t.Context(), documents, at))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	same(t, "due", len(read(noon)), 60)
	for _, doc := range read(noon) {
		write(t, documents, func(tx store.Tx) error {
			return tx.Merge(doc.Path, poll.DecodeAnnouncement(doc).FailedUpdates(noon.Add(time.Minute))...)
		})
	}
	same(t, "due after they failed", len(read(noon)), 0)
	same(t, "reads of that, one for each empty query", documents.Total().Reads, 2)
	same(t, "due after their wait", len(read(noon.Add(time.Minute))), 60)
}
