package mirrortest

import (
	"context"
	"strconv"
	"time"

	"questscheduler/demo/sim/google"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Link links a new account of a person, whose primary calendar Ref names.
func (w *World) Link(owner, account string) {
	w.t.Helper()
	email := account + "@example.test"
	grant, err := w.Google.AddUser(google.User{Key: account, Sub: "sub-" + account, Email: email, TimeZone: "Europe/Zurich"})
	w.must(err)
	w.grants[account] = grant
	w.Set(accounts.Path(account), store.Set("ownerId", owner), store.Set("email", email), store.Set("primaryCalendarId", email),
		store.Set("status", string(accounts.Active)), store.Set("provider", accounts.Google), store.Set("createdAt", Start),
		store.Set("scopes", []string{accounts.ScopeCalendar}))
}

// Ref is an account's primary calendar.
func Ref(account string) gcal.Ref {
	return gcal.Ref{Account: account, Calendar: account + "@example.test"}
}

// Set writes fields of a document, uncounted.
func (w *World) Set(path store.Path, updates ...store.Update) {
	w.t.Helper()
	w.must(w.stored.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Merge(path, updates...) }))
}

// Gather makes a group of people, of whom the first created it.
func (w *World) Gather(group string, people ...string) {
	w.t.Helper()
	w.Set(poll.GroupPath(group), append(
		poll.GroupUpdates(poll.Group{ID: group, Name: "Party", CreatorID: people[0], MemberIDs: people}),
		store.Set("creatorId", people[0]),
	)...)
}

// Mirror gives a person a policy.
func (w *World) Mirror(owner string, edges ...mirror.Edge) {
	w.t.Helper()
	policy, err := w.Policies.Create(w.ctx, owner, "Everything")
	w.must(err)
	_, err = w.Policies.SetEdges(w.ctx, owner, policy.ID, edges, Cause)
	w.must(err)
}

// Insert makes events of an hour in an account's primary calendar, one every six hours from
// the fifth day, with the ids name0, name1 and so on.
func (w *World) Insert(account, name string, count int) {
	w.t.Helper()
	for i := range count {
		start := Start.AddDate(0, 0, 5).Add(time.Duration(i) * 6 * time.Hour)
		_, err := w.Calendar.InsertContent(w.ctx, Ref(account), name+strconv.Itoa(i), gcal.Content{
			Summary: name + " " + strconv.Itoa(i), Start: Moment(start), End: Moment(start.Add(time.Hour)), Transparency: "opaque",
			Visibility: "default",
		}, nil)
		w.must(err)
	}
}

// Moment is a time in Zurich.
func Moment(at time.Time) recurrence.Moment {
	return recurrence.Moment{Time: at, Zone: "Europe/Zurich"}
}

// Retitle changes an event's title, as a person does.
func (w *World) Retitle(account, eventID, title string) {
	w.t.Helper()
	event, err := w.Calendar.Get(w.ctx, Ref(account), eventID)
	w.must(err)
	_, err = w.Calendar.PatchContent(w.ctx, Ref(account), eventID, "", gcal.Content{
		Summary: title, Start: event.Details.Start, End: event.Details.End, Transparency: "opaque", Visibility: "default",
	})
	w.must(err)
}

// Shown are the live events of an account's primary calendar.
func (w *World) Shown(account string) (live []gcal.Event) {
	w.t.Helper()
	for token := ""; ; {
		page, err := w.Calendar.List(w.ctx, Ref(account), gcal.WithDetails, "", token)
		w.must(err)
		for _, event := range page.Events {
			if event.EventState != rules.Gone {
				live = append(live, event)
			}
		}
		token = page.NextPage
		if token == "" {
			return live
		}
	}
}

// Push has an account's primary calendar synced. With relist its sync token is lost first.
func (w *World) Push(account string, relist bool) {
	w.t.Helper()
	calendar, ok, err := calendars.Load(w.ctx, w.stored, account, Ref(account).Calendar)
	w.must(err)
	if !ok || !calendar.Wanted() {
		w.t.Fatalf("nobody follows %s", account)
	}
	now := w.Clock.Now()
	updates := calendars.RequestSync(calendars.Request{At: now, Trigger: "push", Trace: "trc_push"})
	if relist {
		updates = append(updates, calendars.ResetToken()...)
	}
	w.Set(calendars.Path(calendar.Key), updates...)
	w.Outbox.Soon(w.ctx, calendars.SyncKind, calendar.Key, now)
}

// Connect has the events of a group shown in an account, whose owner has the same name.
func (w *World) Connect(group, account string) {
	w.t.Helper()
	_, err := w.Groups.Connect(w.ctx, scheduler.Person{ID: account}, group, account, Cause)
	w.must(err)
}

// SetSharing turns the sharing of a group's sessions on or off, as a person does who changes nothing
// else of it.
func (w *World) SetSharing(group, person string, share bool) error {
	to := groupevents.Sharing{PersonID: person, GroupID: group, Share: share}
	return w.Groups.SetSharing(w.ctx, to, Cause, func(context.Context, store.Tx) error { return nil })
}

// setSlot writes a slot of the poll p1.
func setSlot(slot poll.Slot) func(context.Context, store.Tx) error {
	return func(_ context.Context, tx store.Tx) error {
		return tx.Set(poll.SlotPath("p1", slot.ID), poll.EncodeSlot(slot))
	}
}
