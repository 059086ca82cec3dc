package worldtest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// People are a party of four. Their ids in the program are their keys in the
// simulator, and each person's primary calendar is named by the e-mail address.
var People = []scheduler.Person{
	{ID: "gm", Email: "gm@example.com"},
	{ID: "ana", Email: "ana@example.com"},
	{ID: "ben", Email: "ben@example.com"},
	{ID: "cho", Email: "cho@example.com"},
}

// Admin is who runs the program.
var Admin = scheduler.Person{ID: "root", Admin: true}

// Person is one of People.
func Person(id string) scheduler.Person {
	for _, person := range slices.Concat(People, Others, Colleagues, Players, []scheduler.Person{Outsider}) {
		if person.ID == id {
			return person
		}
	}
	panic("worldtest: nobody is called " + id)
}

// Cause is that of everything a test does itself.
var Cause = scheduler.Cause{Trigger: "person", Trace: "test"}

// Link links a person's Google account, or links it anew under a new grant.
func (w *World) Link(person string) accounts.Account { return w.LinkAs(person, person) }

// LinkAs links somebody's Google account to a person, by a grant of some scopes;
// none: of all.
func (w *World) LinkAs(person, somebody string, scopes ...string) accounts.Account {
	w.t.Helper()
	grant, err := w.Google.NewGrant(somebody, scopes...)
	w.must(err)
	account, err := w.Accounts.Link(w.ctx, person, accounts.Identity{
		Provider: accounts.Google, Sub: "sub-" + somebody, Email: Person(somebody).Email,
	}, grant.RefreshToken, grant.Scopes)
	w.must(err)
	w.follow(account.ID)
	return account
}

// Unlink takes a person's account out, as they do; what follows is carried on by
// the drain where it fails here.
func (w *World) Unlink(person string) {
	w.t.Helper()
	account, err := w.Accounts.Unlink(w.ctx, person, w.Account(person))
	w.must(err)
	w.follow(account.ID)
}

// Revoke is a person's taking our access away at Google. Their own browser goes
// on working.
func (w *World) Revoke(person string) {
	w.t.Helper()
	w.must(w.Google.Revoke(person))
	grant, err := w.Google.NewGrant(person)
	w.must(err)
	w.browsers[person] = grant
}

// Account is the id of the account that a person linked first, unlinked or not.
func (w *World) Account(person string) string {
	w.t.Helper()
	all, err := w.Accounts.List(w.ctx, person)
	w.must(err)
	if len(all) == 0 {
		w.t.Fatalf("%s has linked nothing", person)
	}
	return all[0].ID
}

// CalendarKey is the key of a person's primary calendar as they see it.
func (w *World) CalendarKey(person string) string {
	w.t.Helper()
	owner, calendarID := calendarOf(person)
	return poll.CalendarKey(w.Account(owner), calendarID)
}

type (
	// Slot is a time.
	Slot = scheduler.Times
	// Ask is what a finalisation asks for.
	Ask = scheduler.Finalise
)

// The slots of every poll.
var (
	Ten   = Times("2026-03-10T10:00:00Z", time.Hour)
	Noon  = Times("2026-03-10T12:00:00Z", time.Hour)
	Three = Times("2026-03-10T15:00:00Z", 2*time.Hour)
)

// Times is a time of that length.
func Times(start string, length time.Duration) scheduler.Times {
	at, err := time.Parse(time.RFC3339, start)
	if err != nil {
		panic(err)
	}
	return scheduler.Times{Start: at, End: at.Add(length)}
}

// Poll makes a poll of gm with everybody in it and the slots Ten and Three; its
// slots are given in that order. All but gm have voted.
func (w *World) Poll() (pollID string, slots []string) {
	w.t.Helper()
	return w.PollOf("gm", scheduler.Create{})
}

// PollOf is Poll for one of another person. What ask leaves out is as there;
// who takes part, and does not own it, has voted.
func (w *World) PollOf(person string, ask scheduler.Create) (pollID string, slots []string) {
	w.t.Helper()
	ask.Title, ask.Description = cmp.Or(ask.Title, "Session nine"), cmp.Or(ask.Description, "Bring dice")
	ask.Timezone, ask.Slots = "Europe/Berlin", []scheduler.Times{Ten, Three}
	if ask.ParticipantIDs == nil {
		for _, other := range People {
			ask.ParticipantIDs = append(ask.ParticipantIDs, other.ID)
		}
	}
	view, err := w.Scheduler.Create(w.ctx, Person(person), ask, Cause)
	w.must(err)
	for _, slot := range view.Slots {
		slots = append(slots, slot.ID)
	}
	votes := []map[string]string{
		{slots[0]: poll.Preferred, slots[1]: poll.Feasible}, {slots[0]: poll.Feasible}, {slots[1]: poll.Preferred},
	}
	for _, other := range People {
		if other.ID != person && slices.Contains(ask.ParticipantIDs, other.ID) {
			w.Vote(view.Poll.ID, other.ID, votes[0])
			votes = votes[1:]
		}
	}
	return view.Poll.ID, slots
}

// Party makes a group of gm with ana and ben, whose channel is Channel.
func (w *World) Party() (groupID string) {
	w.t.Helper()
	name, guests := "The party", []string{"ana", "ben"}
	group, err := w.Scheduler.CreateGroup(w.ctx, Person("gm"), scheduler.EditGroup{Name: &name, MemberIDs: guests})
	w.must(err)
	w.must(w.SetParty(group.ID, guests, Channel))
	return group.ID
}

// SetParty says who belongs to a group of gm's beside gm, all of whom accept, and
// which channel it has; "": none.
func (w *World) SetParty(groupID string, guests []string, channel string) error {
	ask := scheduler.EditGroup{
		MemberIDs: append([]string{"gm"}, guests...),
		Discord:   &poll.GroupDiscord{GuildID: Guild, ChannelID: channel, Notifications: w.past.preferences.off},
	}
	_, err := w.Scheduler.UpdateGroup(w.ctx, Admin, groupID, ask)
	for _, guest := range guests {
		if err == nil {
			_, err = w.Scheduler.AcceptGroup(w.ctx, Person(guest), groupID)
		}
	}
	return err
}

// SetSharing turns the sharing of sessions on or off for a group of gm's.
func (w *World) SetSharing(groupID string, share bool) {
	w.t.Helper()
	to := groupevents.Sharing{PersonID: "gm", GroupID: groupID, Share: share}
	_, err := w.Scheduler.UpdateGroup(w.ctx, Person("gm"), groupID, scheduler.EditGroup{
		Run: func(ctx context.Context, change func(context.Context, store.Tx) error) error {
			return w.Groups.SetSharing(ctx, to, Cause, change)
		},
	})
	w.must(err)
}

// Votes are the votes of a poll.
func (w *World) Votes(pollID string) []poll.Vote {
	w.t.Helper()
	votes, err := poll.LoadVotes(w.ctx, w.Documents, pollID)
	w.must(err)
	return votes
}

// Vote votes for a person.
func (w *World) Vote(pollID, person string, choices map[string]string) {
	w.t.Helper()
	_, err := w.Scheduler.Vote(w.ctx, Person(person), pollID, scheduler.Vote{Choices: choices}, Cause)
	w.must(err)
}

// Finalise finalises a poll of gm for a slot, with an event.
func (w *World) Finalise(pollID, slotID string) (scheduler.View, error) {
	return w.FinaliseAs(pollID, scheduler.Finalise{SlotID: slotID, CreateEvent: true})
}

// FinaliseAs finalises a poll of gm.
func (w *World) FinaliseAs(pollID string, ask scheduler.Finalise) (scheduler.View, error) {
	return w.Scheduler.Finalise(w.ctx, Person("gm"), pollID, ask, Cause)
}

// Finalised is a poll that was finalised for Ten, with its event and watch
// channel, after all that follows has come to rest.
func (w *World) Finalised() (pollID string, slots []string, eventID string) {
	w.t.Helper()
	pollID, slots = w.Poll()
	view, err := w.Finalise(pollID, slots[0])
	w.must(err)
	w.Run(time.Minute)
	return pollID, slots, view.Poll.GoogleEventID
}

// FinalisedBy is a poll that somebody else made, open for everybody with the
// link, and finalised for Three with an event in their own calendar.
func (w *World) FinalisedBy(person string) (pollID string) {
	w.t.Helper()
	view, err := w.Scheduler.Create(w.ctx, Person(person), scheduler.Create{
		Title: "Another session", Slots: []Slot{Three}, AllowLinkSharing: true,
	}, Cause)
	w.must(err)
	pollID = view.Poll.ID
	_, err = w.Scheduler.Finalise(w.ctx, Person(person), pollID, Ask{SlotID: view.Slots[0].ID, CreateEvent: true}, Cause)
	w.must(err)
	return pollID
}

// Cancel cancels a poll of gm, with its event.
func (w *World) Cancel(pollID string) (scheduler.View, error) {
	return w.Scheduler.Cancel(w.ctx, Person("gm"), pollID, false, Cause)
}

// View is a poll as gm sees it.
func (w *World) View(pollID string) scheduler.View {
	w.t.Helper()
	view, err := w.Scheduler.View(w.ctx, Person("gm"), pollID)
	w.must(err)
	return view
}

// Fault is a fault of the simulator.
type Fault = control.Rule

// Plant has the simulator's calls of a method suffer a fault.
func (w *World) Plant(match string, set func(f *Fault)) {
	w.t.Helper()
	f := Fault{Match: match}
	set(&f)
	w.must(w.Google.Control().Plant(f))
}

// Refuse has the next n calls of a method refused; 0: all.
func (w *World) Refuse(match string, status int, reason string, n int) {
	w.t.Helper()
	w.Plant(match, func(f *Fault) { f.Status, f.Reason, f.Times = status, reason, n })
}

// Malform has Google show the program an event of a person's calendar with
// other fields than it has, such as {"recurrence": "weekly", "updated": null}
// (null: left out), until {} or Heal ends it.
func (w *World) Malform(person, eventID, fields string) {
	w.t.Helper()
	_, calendarID := calendarOf(person)
	wrong := google.Malformed{Calendar: calendarID, Event: eventID}
	w.must(json.Unmarshal([]byte(fields), &wrong.Fields))
	w.must(w.Google.Malform(wrong))
}

// Heal ends all planted faults and malformed events.
func (w *World) Heal() {
	w.Google.Control().Clear()
	w.Google.ClearMalformed()
}

// Calls is how often the program called a method of Google; "" is all but
// pushes.
func (w *World) Calls(method string) int {
	if method != "" {
		return w.Google.Control().Calls()[method] - w.own[method]
	}
	all := 0
	for name, n := range w.Google.Control().Calls() {
		if name != "push" {
			all += n - w.own[name]
		}
	}
	return all
}
