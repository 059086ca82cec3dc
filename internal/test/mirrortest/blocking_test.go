package mirrortest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/demo/sim/google"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/test/mirrortest"
	"questscheduler/scheduler"
)

// blocked is a person with the accounts work, home and club.
type blocked struct {
	*testing.T
	*mirrortest.World
}

func (b *blocked) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// day is an hour of a day after the world's beginning.
func day(n, hour int) time.Time {
	return mirrortest.Start.AddDate(0, 0, n).Add(time.Duration(hour-9) * time.Hour)
}

// add makes an event of an hour in a calendar, as a person does.
func (b *blocked) add(ref gcal.Ref, id string, start time.Time, transparency string, lines ...string) {
	b.Helper()
	_, err := b.Calendar.InsertContent(b.Context(), ref, id, gcal.Content{
		Summary: "Secret", Start: mirrortest.Moment(start), End: mirrortest.Moment(start.Add(time.Hour)),
		Recurrence: lines, Transparency: transparency, Visibility: "default",
	}, nil)
	b.must(err)
}

// move moves an event of a calendar to another hour, as a person does.
func (b *blocked) move(account, id string, start time.Time) {
	b.Helper()
	_, err := b.Calendar.PatchContent(b.Context(), mirrortest.Ref(account), id, "", gcal.Content{
		Summary: "Moved", Start: mirrortest.Moment(start), End: mirrortest.Moment(start.Add(time.Hour)), Transparency: "opaque",
		Visibility: "default",
	})
	b.must(err)
}

func (b *blocked) remove(account, id string) {
	b.Helper()
	_, err := b.Calendar.DeleteQuietly(b.Context(), mirrortest.Ref(account), id, "")
	b.must(err)
}

// sync has accounts' calendars synced, and does what that leads to.
func (b *blocked) sync(accounts ...string) {
	b.Helper()
	for _, account := range accounts {
		b.Push(account, false)
		b.Settle()
	}
}

// stored is what is stored of a calendar as an account reaches it.
func (b *blocked) stored(account, calendarID string) calendars.Calendar {
	b.Helper()
	stored, _, err := calendars.Load(b.Context(), b.Documents, account, calendarID)
	b.must(err)
	return stored
}

// syncOf has any calendar synced.
func (b *blocked) syncOf(account, calendarID string) {
	b.Helper()
	stored := b.stored(account, calendarID)
	now := b.Clock.Now()
	b.Set(calendars.Path(stored.Key), calendars.RequestSync(calendars.Request{At: now, Trigger: "push", Trace: "trc_push"})...)
	b.Outbox.Soon(b.Context(), calendars.SyncKind, stored.Key, now)
	b.Settle()
}

// copyIn is the id of the first event of ours in an account's primary calendar.
func (b *blocked) copyIn(account string) string {
	b.Helper()
	for _, m := range b.Mirrors(account) {
		if m.EventID != "" && m.SeriesMirrorID == "" {
			return m.EventID
		}
	}
	b.Fatalf("%s has no copy", account)
	return ""
}

func edge(from, to string, detail mirror.Detail) mirror.Edge {
	return mirror.Edge{FromAccountID: from, ToAccountID: to, Detail: detail, Target: mirror.PrimaryTarget}
}

// instance is the id of an occurrence.
func instance(series string, at time.Time) string {
	return series + "_" + at.UTC().Format("20060102T150405Z")
}

// TestAvailability_NeverFree_WhereGoogleSaysBusy compares what the person is answered about
// the account home with Google's own answer, over calendars with events of ours.
func TestAvailability_NeverFree_WhereGoogleSaysBusy(t *testing.T) {
	t.Parallel()
	work, home := mirrortest.Ref("work"), mirrortest.Ref("home")
	weekly := "RRULE:FREQ=WEEKLY;COUNT=6"
	for name, row := range map[string]struct {
		edges []mirror.Edge // none: from work to home, as busy
		do    func(b *blocked)
		free  bool // Google says so
		// unlike: the answer is busy at times when Google is not.
		unlike bool
	}{
		"a copy": {do: func(b *blocked) { b.add(work, "meeting", day(3, 18), "opaque") }},
		"a copy of a calendar that is no primary one": {
			edges: []mirror.Edge{
				{FromAccountID: "work", FromCalendarID: "team", ToAccountID: "home", Detail: mirror.Full, Target: mirror.PrimaryTarget},
			},
			do: func(b *blocked) {
				b.add(gcal.Ref{Account: "work", Calendar: "team"}, "meeting", day(3, 18), "opaque")
				b.syncOf("work", "team")
			},
		},
		"a copy of free time": {
			edges: []mirror.Edge{edge("work", "home", mirror.Full)}, free: true,
			do: func(b *blocked) { b.add(work, "meeting", day(3, 18), "transparent") },
		},
		"a copy in the overlay calendar": {
			edges: []mirror.Edge{{FromAccountID: "work", ToAccountID: "home", Detail: mirror.Full, Target: mirror.Overlay}}, free: true,
			do: func(b *blocked) { b.add(work, "meeting", day(3, 18), "opaque") },
		},
		"a copy that moved": {do: func(b *blocked) {
			b.add(work, "meeting", day(3, 18), "opaque")
			b.sync("work", "home")
			b.move("work", "meeting", day(4, 20))
		}},
		"a copy that is gone": {free: true, do: func(b *blocked) {
			b.add(work, "meeting", day(3, 18), "opaque")
			b.sync("work", "home")
			b.remove("work", "meeting")
		}},
		"a series with a moved and a cancelled occurrence": {do: func(b *blocked) {
			b.add(work, "series", day(3, 18), "opaque", weekly)
			b.sync("work", "home")
			b.move("work", instance("series", day(10, 18)), day(11, 12))
			b.remove("work", instance("series", day(17, 18)))
		}},
		"a series that is gone": {free: true, do: func(b *blocked) {
			b.add(work, "series", day(3, 18), "opaque", weekly)
			b.sync("work", "home")
			b.move("work", instance("series", day(10, 18)), day(11, 12))
			b.sync("work", "home")
			b.remove("work", "series")
		}},
		"a copy that its owner moves again and again": {do: func(b *blocked) {
			b.add(work, "meeting", day(3, 18), "opaque")
			b.sync("work", "home")
			for i := range 5 {
				b.move("home", b.copyIn("home"), day(5, 10+i))
				b.sync("home")
			}
		}},
		"a copy that its owner deletes twice": {free: true, do: func(b *blocked) {
			b.add(work, "meeting", day(3, 18), "opaque")
			b.sync("work", "home")
			for range 2 {
				b.remove("home", b.copyIn("home"))
				b.sync("home")
			}
		}},
		"somebody else's event with an id like ours": {do: func(b *blocked) { b.add(home, mirror.EventPrefix+"abc", day(3, 18), "opaque") }},
		"somebody else's free time with an id like ours": {
			free: true, do: func(b *blocked) { b.add(home, mirror.EventPrefix+"abc", day(3, 18), "transparent") },
		},
		"somebody else's series with an id like ours": {do: func(b *blocked) {
			id := mirror.EventPrefix + "abc"
			b.add(home, id, day(3, 18), "opaque", weekly)
			b.sync("home")
			b.move("home", instance(id, day(10, 18)), day(11, 12))
			b.remove("home", instance(id, day(17, 18)))
		}},
		"somebody else's event that is gone": {free: true, do: func(b *blocked) {
			b.add(home, mirror.EventPrefix+"abc", day(3, 18), "opaque")
			b.sync("home")
			b.remove("home", mirror.EventPrefix+"abc")
		}},
		"many at once": {do: func(b *blocked) {
			b.Insert("work", "meeting", 45)
			b.sync("work", "home")
			b.add(work, "another", day(3, 18), "opaque")
			b.sync("work")
			b.Push("home", true)
			b.Settle()
		}},
		"many that are gone with the sync token": {free: true, do: func(b *blocked) {
			b.Insert("work", "meeting", 5)
			b.sync("work", "home")
			for i := range 5 {
				b.remove("work", fmt.Sprint("meeting", i))
			}
			b.sync("work")
			b.Push("home", true)
			b.Settle()
		}},
		"a group's copy": {do: func(b *blocked) { b.groupEvent(day(3, 18)) }},
		"a group's copy that the member kept": {do: func(b *blocked) {
			b.groupEvent(day(3, 18))
			b.sync("home")
			b.must(b.Groups.Disconnect(b.Context(), mirror.Connection{GroupID: "party", AccountID: "home", OwnerID: "gm"}, false, mirrortest.Cause))
		}},
		"a group's copy that the member deleted": {free: true, unlike: true, do: func(b *blocked) {
			b.groupEvent(day(3, 18))
			for range 2 {
				b.sync("home")
				b.remove("home", b.copyIn("home"))
			}
		}},
		"events of the person's own beside": {do: func(b *blocked) {
			b.add(work, "meeting", day(3, 18), "opaque")
			b.add(home, "dentist", day(4, 18), "opaque")
			b.add(home, "reminder", day(5, 18), "transparent")
			_, err := b.Google.AddGmailEvent(home.Calendar, "Flight", day(6, 18), day(6, 20))
			b.must(err)
		}},
		"an account without a grant that another one reaches": {
			edges: []mirror.Edge{
				{FromAccountID: "work", FromCalendarID: home.Calendar, ToAccountID: "club", Detail: mirror.Busy, Target: mirror.Overlay},
			},
			do: func(b *blocked) {
				b.add(home, "dentist", day(4, 18), "opaque")
				b.syncOf("work", home.Calendar)
				b.Set(accounts.Path("home"), store.Set("status", string(accounts.Revoked)))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &blocked{t, mirrortest.New(t, mirrortest.Options{})}
			for _, account := range []string{"work", "home", "club"} {
				b.Link("gm", account)
			}
			b.must(b.Google.AddCalendar(google.Calendar{ID: "team", Summary: "Team", Owner: "work"}))
			b.must(b.Google.Share(home.Calendar, "work", google.Writer))
			b.Set(accounts.Path("work"), store.Set("calendarIds", []string{"team", home.Calendar}))
			if row.edges == nil {
				row.edges = []mirror.Edge{edge("work", "home", mirror.Busy)}
			}
			b.Mirror("gm", row.edges...)
			b.Settle()
			row.do(b)
			for range 2 {
				for _, account := range []string{"work", "home"} {
					if b.stored(account, mirrortest.Ref(account).Calendar).Wanted() {
						b.sync(account)
					}
				}
			}
			b.compare(home, row.free, row.unlike)
		})
	}
}

// compare compares the answer about an account with Google's for a month.
func (b *blocked) compare(ref gcal.Ref, isFree, isUnlike bool) {
	b.Helper()
	from, to := day(0, 0), day(45, 0)
	said, err := b.Calendar.FreeBusy(b.Context(), ref.Account, []string{ref.Calendar}, from, to)
	b.must(err)
	var busy []availability.Interval
	for _, i := range said[ref.Calendar].Busy {
		busy = append(busy, availability.Interval(i))
	}
	answer, err := b.Free.Own(b.Context(), "gm", from, to, nil)
	b.must(err)
	if len(answer.Accounts) != 3 {
		b.Fatalf("accounts are %+v", answer.Accounts)
	}
	if isFree != (len(busy) == 0) {
		b.Fatalf("Google says busy at %v", busy)
	}
	own := b.ofAccount(ref, from, to)
	for _, i := range busy {
		if state := availability.State(i, own.Busy, nil); state != availability.StateBusy {
			b.Errorf("Google is busy at %v, and the answer about %s is %+v", i, ref.Account, own)
		}
	}
	if got, want := lines(own.Busy), lines(busy); got != want && !isUnlike {
		b.Errorf("the answer is busy at\n%s\nand Google at\n%s", got, want)
	}
}

// ofAccount is the answer about one account; of one without a grant that about all, since
// it is answered by another one.
func (b *blocked) ofAccount(ref gcal.Ref, from, to time.Time) availability.Answer {
	b.Helper()
	account, err := accounts.Load(b.Context(), b.World.Documents, ref.Account)
	b.must(err)
	ids := []string{ref.Account}
	if account.Usable() != nil {
		ids = nil
	}
	answer, err := b.Free.Own(b.Context(), "gm", from, to, ids)
	b.must(err)
	return answer
}

func lines(intervals []availability.Interval) string {
	var all []string
	for _, i := range intervals {
		all = append(all, i.Start.UTC().Format(time.RFC3339)+" "+i.End.UTC().Format(time.RFC3339))
	}
	return strings.Join(all, "\n")
}

// TestPollAvailability_OfItsOwnSessionsCopies_IsFree has the session of a group's poll copied
// into the members' calendars, and one member busy with something else as well.
func TestPollAvailability_OfItsOwnSessionsCopies_IsFree(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	p.Set(poll.Path(pollID), store.Set("winningSlotId", "s1"), store.Set("timezone", "Europe/Zurich"), store.Set("participantIds", p.members))
	for _, member := range p.members {
		p.Set(poll.VotePath(pollID, member), store.Set("voterId", member))
		p.must(p.Free.Share(t.Context(), member, true))
	}
	for i, hour := range []int{18, 20} {
		start := time.Date(2026, 3, 10, hour, 0, 0, 0, time.UTC)
		slot := poll.EncodeSlot(poll.Slot{ID: fmt.Sprint("s", i+1), Start: start, End: start.Add(time.Hour)})
		for field, value := range slot {
			p.Set(poll.SlotPath(pollID, fmt.Sprint("s", i+1)), store.Set(field, value))
		}
	}
	_, err := p.Calendar.InsertContent(t.Context(), mirrortest.Ref(gm), p.eventID, content(18), nil)
	p.must(err)
	p.Push(gm, false)
	p.Settle()
	_, err = p.Calendar.InsertContent(t.Context(), mirrortest.Ref("member3"), mirror.EventPrefix+"abc", content(18), nil)
	p.must(err)
	for _, member := range p.members {
		p.Push(member, false)
		p.Settle()
	}
	slots, err := p.Free.ForPoll(t.Context(), pollID, gm)
	p.must(err)
	for i, slot := range slots {
		for _, person := range slot.People {
			want := availability.StateFree
			if i == 0 && person.ID == "member3" {
				want = availability.StateBusy
			}
			if person.State != want {
				t.Errorf("%s is %s at %s, want %s", person.ID, person.State, slot.ID, want)
			}
		}
	}
	answer, err := p.Free.Own(t.Context(), "member1", slotStart(18), slotStart(22), nil)
	p.must(err)
	if len(answer.Busy) != 1 {
		t.Errorf("for others, the session occupies member1 at %v", answer.Busy)
	}
}

func slotStart(hour int) time.Time { return time.Date(2026, 3, 10, hour, 0, 0, 0, time.UTC) }

// groupEvent makes an event of a group to which the person connected the account home.
func (b *blocked) groupEvent(start time.Time) {
	b.Helper()
	b.Gather("party", "gm")
	gm := scheduler.Person{ID: "gm"}
	_, err := b.Groups.Connect(b.Context(), gm, "party", "home", mirrortest.Cause)
	b.must(err)
	_, err = b.Groups.Create(b.Context(), gm, "party", groupevents.Create{Input: groupevents.Input{
		Title: "Party", Start: recurrence.Moment{Time: start}.String(),
		End: recurrence.Moment{Time: start.Add(time.Hour)}.String(), Timezone: "Europe/Zurich",
	}}, mirrortest.Cause)
	b.must(err)
	b.Settle()
}
