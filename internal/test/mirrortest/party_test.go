package mirrortest_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/mirrortest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// party is a game master with a poll whose session a group shares, and eight members who
// connected an account each.
type party struct {
	*testing.T
	*mirrortest.World
	members []string
	eventID string
}

const (
	gm      = "gm"
	members = 8
	pollID  = "5f0c7b8e-6d0e-4a53-9d43-0d9f6d3f8c11"
)

func newParty(t *testing.T) *party {
	t.Helper()
	p := &party{T: t, World: mirrortest.New(t, mirrortest.Options{}), eventID: poll.EventID(pollID, 1)}
	p.Link(gm, gm)
	for i := range members {
		p.members = append(p.members, fmt.Sprint("member", i))
		p.Link(p.members[i], p.members[i])
	}
	everybody := append([]string{gm}, p.members...)
	p.Gather("party", everybody...)
	p.Set(poll.Path(pollID), store.Set("creatorId", gm), store.Set("questingGroupId", "party"), store.Set("status", string(rules.Finalized)),
		store.Set("title", "Session"), store.Set("googleEventId", p.eventID), store.Set("googleCalendarId", mirrortest.Ref(gm).Calendar))
	p.Set(poll.IndexPath(p.eventID), store.Set("consumer", poll.ConsumerPoll), store.Set("schedulerId", pollID), store.Set("creatorId", gm),
		store.Set("accountId", gm), store.Set("calendarId", mirrortest.Ref(gm).Calendar), store.Set("generation", int64(1)),
		store.Set("createdAt", mirrortest.Start))
	p.must(p.SetSharing("party", "gm", true))
	for _, person := range everybody {
		_, err := p.Groups.Connect(t.Context(), scheduler.Person{ID: person}, "party", person, mirrortest.Cause)
		p.must(err)
	}
	p.Settle()
	return p
}

func (p *party) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// content is the session at an hour of the tenth of March.
func content(hour int) gcal.Content {
	start := time.Date(2026, 3, 10, hour, 0, 0, 0, time.UTC)
	return gcal.Content{
		Summary: "Session", Start: mirrortest.Moment(start), End: mirrortest.Moment(start.Add(time.Hour)), Transparency: "opaque",
		Visibility: "default",
	}
}

// sync does something in the game master's calendar and has that alone synced. The calls to
// Google must be one listing and these.
func (p *party) sync(want map[string]int, do func() error) {
	p.Helper()
	p.must(do())
	p.ResetCalls()
	p.Push(gm, false)
	p.Settle()
	want["events.list"] = 1
	if calls := p.Calls(); !maps.Equal(calls, want) {
		p.Errorf("calls: %v, want %v", calls, want)
	}
}

// shows fails unless these members' calendars have the session at an hour, and no other
// event; 0: no event at all.
func (p *party) shows(hour int, people ...string) {
	p.Helper()
	for _, person := range people {
		shown := p.Shown(person)
		switch {
		case hour == 0 && len(shown) == 0:
		case len(shown) == 1 && shown[0].Details.Start.Time.UTC().Hour() == hour && shown[0].Details.Summary == "Session":
		default:
			p.Errorf("%s shows %+v, want the session at %d", person, shown, hour)
		}
	}
}

// isCancelled cancels the poll, and has the group's work follow it.
func (p *party) isCancelled() {
	p.Helper()
	p.Set(poll.Path(pollID), store.Set("status", string(rules.Cancelled)), store.Set("googleEventId", nil))
	p.Set(poll.GroupWorkPath(poll.SessionWorkID(pollID)), store.Set("groupId", "party"), store.Set("pollId", pollID),
		store.Set("ref", "work"), store.Set("due", p.Clock.Now()))
	p.World.Run(2 * time.Hour)
}

func TestSession_EightAccounts_FollowInOneSync(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	ctx, ref := t.Context(), mirrortest.Ref(gm)
	p.sync(map[string]int{"events.insert": members}, func() error {
		_, err := p.Calendar.InsertContent(ctx, ref, p.eventID, content(18), nil)
		return err
	})
	p.shows(18, p.members...)
	p.sync(map[string]int{"events.patch": members}, func() error {
		_, err := p.Calendar.PatchContent(ctx, ref, p.eventID, "", content(20))
		return err
	})
	p.shows(20, p.members...)
	p.sync(map[string]int{"events.delete": members}, func() error {
		_, err := p.Calendar.DeleteQuietly(ctx, ref, p.eventID, "")
		return err
	})
	p.shows(0, p.members...)
	// The id of a deleted event is taken, so each is inserted under the next one.
	p.sync(map[string]int{"events.insert": 2 * members, "events.get": members}, func() error {
		_, err := p.Calendar.PatchContent(ctx, ref, p.eventID, "", content(20))
		return err
	})
	p.shows(20, p.members...)
	p.shows(20, gm)
	if len(p.World.Failed) > 0 {
		t.Error(p.World.Failed)
	}
}

// A sync run that observes the deletion first finds the event no group's any more.
func TestSession_DeletedBeforeTheGroupsWorkOfItsPoll_IsShownToNobody(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	_, err := p.Calendar.InsertContent(t.Context(), mirrortest.Ref(gm), p.eventID, content(18), nil)
	p.must(err)
	p.Push(gm, false)
	p.Settle()
	p.shows(18, p.members...)
	p.Set(poll.Path(pollID), store.Set("status", string(rules.Cancelled)), store.Set("googleEventId", nil))
	_, err = p.Calendar.DeleteQuietly(t.Context(), mirrortest.Ref(gm), p.eventID, "")
	p.must(err)
	p.Push(gm, false)
	p.Settle()
	p.Set(poll.GroupWorkPath(poll.SessionWorkID(pollID)), store.Set("groupId", "party"), store.Set("pollId", pollID),
		store.Set("ref", "work"), store.Set("due", p.Clock.Now()))
	p.World.Run(2 * time.Minute)
	p.shows(0, p.members...)
	p.World.Run(2 * time.Hour)
	if events := p.Events(gm); len(events) > 0 {
		t.Errorf("of it is left %+v", events)
	}
}

// Of a calendar that mirroring follows no longer, the poll says what its session is.
func TestSession_OfACalendarThatIsFollowedNoLonger_StaysWithItsPoll(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	_, err := p.Calendar.InsertContent(t.Context(), mirrortest.Ref(gm), p.eventID, content(18), nil)
	p.must(err)
	p.Push(gm, false)
	p.Settle()
	p.must(p.Groups.Disconnect(t.Context(), mirror.Connection{GroupID: "party", AccountID: gm, OwnerID: gm}, true, mirrortest.Cause))
	p.World.Run(5 * time.Minute)
	p.shows(18, p.members...)
	p.isCancelled()
	p.shows(0, p.members...)
}

// Nothing but the leaving says that the group shares it no more.
func TestSession_OfSomebodyWhoLeftTheGroup_IsShownToNobody(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	_, err := p.Calendar.InsertContent(t.Context(), mirrortest.Ref(gm), p.eventID, content(18), nil)
	p.must(err)
	p.Push(gm, false)
	p.Settle()
	p.shows(18, p.members...)
	p.Gather("party", p.members...)
	p.must(p.Groups.Disconnect(t.Context(), mirror.Connection{GroupID: "party", AccountID: gm, OwnerID: gm}, true, mirrortest.Cause))
	p.World.Run(5 * time.Minute)
	p.shows(0, p.members...)
}

// A shared session outlives the forgetting of its calendar: who sees it must be found when its poll
// is cancelled.
func TestSession_OfAnAccountThatIsRevokedForLong_StaysWithItsPoll(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	_, err := p.Calendar.InsertContent(t.Context(), mirrortest.Ref(gm), p.eventID, content(18), nil)
	p.must(err)
	_, err = p.Calendar.InsertContent(t.Context(), mirrortest.Ref(gm), "other"+p.eventID, content(9), nil)
	p.must(err)
	p.Push(gm, false)
	p.Settle()
	p.Set(accounts.Path(gm), store.Set("status", string(accounts.Revoked)), store.Set("updatedAt", p.Clock.Now().AddDate(0, 0, -31)))
	for at, more := "", true; more; more = at != "" {
		_, at, err = p.Service.RemoveStale(t.Context(), at, 1, mirrortest.Cause)
		p.must(err)
	}
	p.Settle()
	p.shows(18, p.members...)
	p.isCancelled()
	p.shows(0, p.members...)
}

// The refusals are shown with the session, and hold up none of the other accounts.
func TestSession_OneRefuses_OthersFollow(t *testing.T) {
	t.Parallel()
	const refusing = "member3"
	for name, row := range map[string]struct {
		refuse func(p *party)
		allow  func(p *party)
		state  mirror.State
		said   string
	}{
		"403": {
			refuse: func(p *party) {
				p.must(p.Google.Control().Plant(control.Rule{
					Match: "events.patch", Calendar: mirrortest.Ref(refusing).Calendar, Status: 403, Reason: "forbidden",
				}))
			},
			allow: func(p *party) { p.Google.Control().Clear() },
			state: mirror.Failed, said: "refuse",
		},
		"revoked": {
			refuse: func(p *party) {
				p.Revoked[refusing] = true
				p.Set(accounts.Path(refusing), store.Set("status", string(accounts.Revoked)))
			},
			allow: func(p *party) {
				p.Revoked[refusing] = false
				p.Set(accounts.Path(refusing), store.Set("status", string(accounts.Active)))
				p.must(p.Service.Rewrite(p.T.Context(), refusing, mirrortest.Cause))
			},
			state: mirror.Pending, said: "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newParty(t)
			ctx, master := t.Context(), scheduler.Person{ID: gm}
			made, err := p.Groups.Create(ctx, master, "party", groupevents.Create{Input: groupevents.Input{
				Title: "Session", Start: "2026-03-10T18:00:00Z", End: "2026-03-10T19:00:00Z", Timezone: "Europe/Zurich",
			}}, mirrortest.Cause)
			p.must(err)
			p.Settle()
			p.shows(18, p.members...)
			asked := groupevents.Reference{GroupID: "party", ID: made.ID}
			row.refuse(p)
			start, end := "2026-03-10T20:00:00Z", "2026-03-10T21:00:00Z"
			_, err = p.Groups.Update(ctx, master, asked, groupevents.Edit{Start: &start, End: &end}, mirrortest.Cause)
			p.must(err)
			p.Settle()
			others := append(append([]string{}, p.members[:3]...), p.members[4:]...)
			p.shows(20, others...)
			view, err := p.Groups.Get(ctx, scheduler.Person{ID: refusing}, asked)
			p.must(err)
			if len(view.Mirrors) != 1 || view.Mirrors[0].State != row.state || !strings.Contains(view.Mirrors[0].LastError, row.said) {
				t.Fatalf("%s is shown %+v, want %s for %q", refusing, view.Mirrors, row.state, row.said)
			}
			for _, person := range others {
				if view, err := p.Groups.Get(ctx, scheduler.Person{ID: person}, asked); err != nil || view.Mirrors[0].State != mirror.Active {
					t.Errorf("%s is shown %+v: %v", person, view.Mirrors, err)
				}
			}
			row.allow(p)
			p.World.Run(26 * time.Hour)
			p.Google.Control().Clear()
			p.shows(20, p.members...)
		})
	}
}
