package poll_test

import (
	"context"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/roundtrip"
)

// merged is a document after updates were merged into it, in their order.
func merged(t *testing.T, path store.Path, updates ...[]store.Update) store.Document {
	t.Helper()
	documents := open(t)
	for _, some := range updates {
		write(t, documents, func(tx store.Tx) error { return tx.Merge(path, some...) })
	}
	document, err := documents.Get(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestSlot_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[poll.Slot]{
		Through: func(s poll.Slot) poll.Slot {
			return poll.DecodeSlot(kept(t, poll.SlotPath("p1", s.ID), poll.EncodeSlot(s)))
		},
		Fixed: map[string]any{"Source": poll.SourceCalendar},
	})
}

func TestVote_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	choices := map[string]any{"Choices": map[string]string{"s1": poll.Feasible, "s2": poll.Preferred}}
	roundtrip.Check(t, roundtrip.Codec[poll.Vote]{
		Through: func(v poll.Vote) poll.Vote {
			return poll.DecodeVote(kept(t, poll.VotePath("p1", v.UserID), poll.EncodeVote(v)))
		},
		Fixed: choices,
	})
	roundtrip.Check(t, roundtrip.Codec[poll.Vote]{
		Through: func(v poll.Vote) poll.Vote {
			return poll.DecodeVote(merged(t, poll.VotePath("p1", v.UserID), poll.VoteUpdates(v)))
		},
		Fixed: choices,
	})
}

// Who votes over REST says nothing of where, and shows no picture: what the web app wrote stays.
func TestVote_OverREST_KeepsWhatTheAppWrote(t *testing.T) {
	t.Parallel()
	for _, update := range poll.VoteUpdates(poll.Vote{UserID: "ana", Avatar: "https://pictures.example/ana"}) {
		if name := update.Path[0]; name == "source" || name == "lastVotedFrom" || name == "userAvatar" {
			t.Errorf("%s is written", name)
		}
	}
}

func TestGroup_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[poll.Group]{
		Through: func(g poll.Group) poll.Group {
			created := []store.Update{poll.Set("creatorId", g.CreatorID)} // once, with the group
			return poll.DecodeGroup(merged(t, poll.GroupPath(g.ID), created, poll.GroupUpdates(g)))
		},
		Fixed: map[string]any{"Discord.Notifications": map[string]bool{"wanted": true, "unwanted": false}},
		Lost: map[string]string{
			"AcceptedIDs": "a record of its own", "Listed": "of the store and the operator", "known": "of the reading",
			"Discord.Linked": "for people to read", "MemberManaged": "of the web app alone",
		},
	})
}

func TestSnapshot_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[poll.Snapshot]{
		Through: func(s poll.Snapshot) poll.Snapshot {
			documents := open(t)
			put(t, documents, poll.SnapshotPath("p1", s.ID), poll.EncodeSnapshot("p1", s))
			read, err := poll.LoadSnapshot(context.Background(), documents, "p1", s.ID)
			if err != nil {
				t.Fatal(err)
			}
			return *read
		},
		Fixed: map[string]any{"Votes.Choices": map[string]string{"s1": poll.Feasible, "s2": poll.Preferred}},
		Lost:  map[string]string{"Votes.UpdatedAt": "a vote that is put back is written anew"},
	})
}

// ofDocument is why Made is no field.
const ofDocument = "it is when the document was made"

func TestEntry_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t,
		roundtrip.Codec[poll.JournalEntry]{Lost: map[string]string{"Made": ofDocument}, Through: func(e poll.JournalEntry) poll.JournalEntry {
			return poll.DecodeEntry(kept(t, poll.EntryPath(e.PollID, e.ID), poll.EncodeEntry(e)))
		}})
}

func TestIntent_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	through := func(i poll.Intent) poll.Intent { return poll.DecodeIntent(kept(t, i.Path(), poll.EncodeIntent(i))) }
	roundtrip.Check(t, roundtrip.Codec[poll.Intent]{
		Through: through, Fixed: map[string]any{"Kind": poll.IntentInsert}, Lost: map[string]string{"Made": ofDocument},
	})

	const noEvent = "nothing is made"
	session := map[string]string{"Made": ofDocument}
	for _, field := range []string{
		"SlotID", "Start", "End", "AllDay", "Title", "Description", "Timezone", "Attendees", "KeepOld", "OldAccount", "Actor", "Request",
	} {
		session["Session."+field] = noEvent
	}
	for _, kind := range []poll.IntentKind{poll.IntentDelete, poll.IntentPurge} {
		roundtrip.Check(t, roundtrip.Codec[poll.Intent]{Through: through, Fixed: map[string]any{"Kind": kind}, Lost: session})
	}
}

func TestIndexEntry_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		roundtrip.Check(t,
			roundtrip.Codec[poll.IndexEntry]{Lost: map[string]string{"Made": ofDocument}, Through: func(e poll.IndexEntry) poll.IndexEntry {
				path := poll.IndexPath(e.EventID)
				if shared {
					path = poll.SharedIndexPath(e.EventID, e.AccountID, e.CalendarID)
				}
				return poll.DecodeIndex(kept(t, path, poll.EncodeIndex(e)))
			}})
	}
}

func TestAnnouncement_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t,
		roundtrip.Codec[poll.Announcement]{Lost: map[string]string{"Made": ofDocument}, Through: func(a poll.Announcement) poll.Announcement {
			var updates [][]store.Update
			if a.Resent {
				updates = append(updates, poll.ResendUpdates(a, a.Due))
			}
			updates = append(updates,
				poll.Announcement{Failures: a.Failures - 1}.FailedUpdates(a.AgainAt), poll.KnownUpdates(a.PollID, a.Announced),
				poll.PendingUpdates(a.PollID, a.Wanted, a.Due), poll.DeliveryUpdates(a.Delivering, a.Attempts, a.AgainAt),
				[]store.Update{poll.BeforeUpdate(a.Before), poll.NextNoticeUpdate(a.NextNotice)},
				poll.NamedUpdates(a.PollID, a.Named), poll.EnteredUpdates(a.PollID, a.Entered), poll.PressedUpdates(a.PollID, a.Pressed))
			for channel, delivery := range a.Channels {
				updates = append(updates, []store.Update{poll.DeliveryUpdate(channel, delivery)})
			}
			if a.CardPending() {
				updates = append(updates, poll.CardPendingUpdates(a.PollID, a.CardRef, a.CardTrace, a.CardDue))
			} else {
				updates = append(updates, []store.Update{poll.Set("cardRef", a.CardRef), poll.Set("cardTrace", a.CardTrace)})
			}
			if a.CardBegun {
				updates = append(updates, poll.Announcement{CardDue: a.CardDue}.CardBegunUpdates(a.CardRef, a.CardDue))
			}
			return poll.DecodeAnnouncement(merged(t, poll.AnnouncementPath(a.PollID), updates...))
		}})
}

// A field that is added to a poll, and that Changes or Decode forgets, is named
// here. What Changes does not write is written as a new poll, the card or the web
// app writes it.
func TestPoll_EveryField_IsRead(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[poll.Poll]{
		Through: func(p poll.Poll) poll.Poll {
			return poll.Bare(poll.Decode(merged(t, poll.Path(p.ID), pollUpdates(p)...)))
		},
		Fixed: map[string]any{"stored": store.Document{}, "namesCalendar": false},
		Lost: map[string]string{
			"Votes.hidden": "the web app alone writes it", "Votes.when": "the web app alone writes it", "Votes.allIn": "the web app alone writes it",
			"Made": ofDocument, "Untouched": ofDocument,
		},
	})
}

func pollUpdates(p poll.Poll) [][]store.Update {
	var made []store.Update
	for name, value := range poll.New(p) {
		made = append(made, poll.Set(name, value))
	}
	card := p.Discord
	elsewhere := []store.Update{poll.Set("discord", fields{
		"messageId": card.MessageID, "channelId": card.ChannelID, "guildId": card.GuildID, "messageUrl": card.MessageURL,
		"notifyRoleId": card.NotifyRoleID, "lastSyncedHash": card.Hash, "pendingSyncError": card.Error,
	})}
	if p.HasCancelledAt {
		elsewhere = append(elsewhere, poll.Set("cancelledAt", moment))
	}
	p.HasCancelledAt = false
	return [][]store.Update{made, elsewhere, poll.Anew(p).Changes()}
}

// A new poll is open, and linked to nothing: that much is not of what is given.
func TestNewPoll_EveryFieldThatIsGiven_IsStored(t *testing.T) {
	t.Parallel()
	lost := map[string]string{"Made": ofDocument, "Untouched": ofDocument, "UpdatedAt": "it is when the poll was made"}
	for _, later := range []string{
		"JoinedIDs", "Status", "WinningSlotID", "GoogleEventID", "GoogleCalendarID", "SlotPriority", "FinalizedAt",
		"Discord.MessageID", "Discord.ChannelID",
		"Discord.GuildID", "Discord.MessageURL", "Discord.NotifyRoleID", "Discord.Hash", "Discord.Error", "Cancelled", "HasCancelledAt",
		"Votes.hidden", "Votes.when", "Votes.allIn", "Sync.State", "Sync.LastSyncedAt", "Sync.Applied", "Sync.Generation",
		"Sync.Sequence", "Sync.Observed",
		"Sync.Baseline", "Sync.Rescheduled", "Sync.Cancelled", "Sync.Error", "Sync.Awaited", "Sync.Recorded.At", "Sync.Recorded.Status",
		"Sync.Recorded.WinningSlotID", "Sync.Recorded.EventID", "Sync.Recorded.Noted", "Sync.Recorded.NotedUpdated",
		"Sync.Request.ID", "Sync.Request.At",
	} {
		lost[later] = "a new poll has none, or begins with its own"
	}
	roundtrip.Check(t, roundtrip.Codec[poll.Poll]{
		Through: func(p poll.Poll) poll.Poll { return poll.Bare(poll.Decode(kept(t, poll.Path(p.ID), poll.New(p)))) },
		Fixed:   map[string]any{"stored": store.Document{}, "namesCalendar": false},
		Lost:    lost,
	})
}

// A field that Changes forgets cannot be changed after the poll was made.
func TestPoll_EveryField_IsChangedOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	lost := map[string]string{"Made": ofDocument, "Untouched": ofDocument}
	for _, once := range []string{"CreatedAt", "CreatorEmail", "CreatorID", "GroupID", "GroupName"} {
		lost[once] = "it is written when the poll is made, and does not change"
	}
	for _, card := range []string{"ChannelID", "Error", "GuildID", "Hash", "MessageID", "MessageURL", "NotifyRoleID"} {
		lost["Discord."+card] = "the drawing of the card writes it"
	}
	for _, app := range []string{"Votes.allIn", "Votes.hidden", "Votes.when"} {
		lost[app] = "the web app alone writes it"
	}
	roundtrip.Check(t, roundtrip.Codec[poll.Poll]{
		Through: func(p poll.Poll) poll.Poll {
			return poll.Bare(poll.Decode(merged(t, poll.Path(p.ID), poll.Anew(p).Changes())))
		},
		Fixed: map[string]any{"stored": store.Document{}, "namesCalendar": false, "HasCancelledAt": false}, // it is never set here
		Lost:  lost,
	})
}

func TestGroupWork_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[poll.GroupWork]{Through: func(w poll.GroupWork) poll.GroupWork {
		return poll.DecodeGroupWork(roundtrip.Kept(t, poll.GroupWorkPath(w.ID), roundtrip.Whole(poll.EncodeGroupWork(w))))
	}})
}
