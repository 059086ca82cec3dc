package groupevents_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/mirrortest"
	"questscheduler/scheduler"
)

// unlink unlinks an account, as calendarsync.Links does.
func (w *world) unlink(account string) {
	w.Helper()
	w.Set(accounts.Path(account), store.Set("status", string(accounts.Unlinked)), store.Set("unlinkedAt", w.Clock.Now()),
		store.Set("due", true))
	now := accounts.Account{ID: account, OwnerID: account, Status: accounts.Unlinked, UnlinkedAt: w.Clock.Now()}
	w.must(w.Groups.AccountLeaving(w.T.Context(), now, mirrortest.Cause))
	w.must(w.Writer.AccountLeaving(w.T.Context(), now, mirrortest.Cause))
}

// No drain runs here: what is deleted is deleted at once.
func TestCopies_OfFormerMembers_AreDeletedAtOnce(t *testing.T) {
	t.Parallel()
	removed := func(w *world) { w.Gather(party, "gm", "ben") } // as the web app does
	left := func(w *world) {
		removed(w)
		_, err := w.Groups.Prune(w.T.Context(), party, mirrortest.Cause)
		w.must(err)
	}
	cleaned := func(w *world) {
		removed(w)
		_, _, err := w.Groups.EndConnections(w.T.Context(), "")
		w.must(err)
		_, _, err = w.Groups.DeleteKept(w.T.Context(), "")
		w.must(err)
	}
	for name, row := range map[string]struct {
		end func(w *world)
		// change: the members then see another title.
		change bool
	}{
		"who leave":                                    {end: left},
		"removed by the web app, and cleaned up":       {end: cleaned},
		"removed by the web app, and an event changes": {end: removed, change: true},
		"removed by the web app, who ask for it": {end: func(w *world) {
			removed(w)
			w.must(w.disconnect("ana", true))
		}},
		"who ask for it":             {end: func(w *world) { w.must(w.disconnect("ana", true)) }},
		"whose account was unlinked": {end: func(w *world) { w.unlink("ana") }},
	} {
		for _, kept := range []bool{false, true} {
			if kept && row.change {
				continue // nothing that changes concerns them: the cleanup finds their copies
			}
			t.Run(name+map[bool]string{true: ", after disconnecting"}[kept], func(t *testing.T) {
				t.Parallel()
				w := newConnectedWorld(t)
				w.own("ana", "Dentist")
				_, err := w.create("ana", "Breakfast", mirrortest.Start.Add(-2*time.Hour)) // it is over
				w.must(err)
				later, err := w.create("gm", "Dinner", mirrortest.Start.Add(9*time.Hour))
				w.must(err)
				w.Settle()
				if kept {
					w.must(w.disconnect("ana", false))
					w.Settle()
				}
				w.shows("ana", "Breakfast", "Dentist", "Dinner")
				row.end(w)
				titles := []string{"Breakfast", "Dinner"}
				if row.change {
					w.retitle(later, "Supper")
					titles[1] = "Supper"
				}
				w.Settle()
				w.shows("ana", "Dentist")
				w.shows("gm", titles...)
				w.shows("ben", titles...)
				w.World.Run(3 * time.Minute)
				w.Reconcile()
				w.shows("ana", "Dentist")
				if all := w.Mirrors("ana"); len(all) > 0 || len(w.Failed) > 0 {
					t.Errorf("left are %+v; failed: %v", all, w.Failed)
				}
			})
		}
	}
}

// The web app deletes groups without the program.
func TestCopies_OfADeletedGroup_AreDeletedByCleanup(t *testing.T) {
	t.Parallel()
	w := newDinnerWorld(t)
	w.must(w.disconnect("ana", false))
	w.must(w.Documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Delete(poll.GroupPath(party)) }))
	w.Settle()
	w.cleanUp()
	for _, person := range []string{"gm", "ben"} {
		w.shows(person)
	}
	w.shows("ana", "Dinner") // which ana chose to keep
}

// cleanUp ends connections as the daily cleanup does.
func (w *world) cleanUp() {
	w.Helper()
	for _, end := range []func(context.Context, string) (int, string, error){w.Groups.EndConnections, w.Groups.DeleteKept} {
		_, _, err := end(w.T.Context(), "")
		w.must(err)
	}
	w.Settle()
}

// A store that was restored without the groups deletes no copies.
func TestCopies_WhereMostGroupsAreGone_Stay(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]string{"cleaned up": "", "planned": "planned"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newDinnerWorld(t)
			var groups []string
			for i := range 6 {
				groups = append(groups, fmt.Sprint("guild", i))
				w.Gather(groups[i], "gm", "ana")
				w.Connect(groups[i], "ana")
			}
			w.Settle()
			w.must(w.Documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				for _, id := range append(groups, party) {
					if err := tx.Delete(poll.GroupPath(id)); err != nil {
						return err
					}
				}
				return nil
			}))
			if other != "" {
				w.must(w.Service.Rewrite(t.Context(), "ana", mirrortest.Cause))
				w.Settle()
			}
			w.cleanUp()
			for _, person := range []string{"gm", "ana", "ben"} {
				w.shows(person, "Dinner")
			}
		})
	}
}

func TestDisconnect_OfAnother_IsNotFound(t *testing.T) {
	t.Parallel()
	w := newDinnerWorld(t)
	for _, deleteEvents := range []bool{false, true} {
		connection := mirror.Connection{GroupID: party, AccountID: "ana", OwnerID: "ben"}
		if err := w.Groups.Disconnect(t.Context(), connection, deleteEvents, mirrortest.Cause); !fault.Is(err, fault.NotFound) {
			t.Errorf("deleting %t: %v", deleteEvents, err)
		}
	}
	w.Settle()
	w.shows("ana", "Dinner")
	w.must(w.disconnect("ana", true))
}

func TestDisconnect_WithoutConnection_IsOfOwnCopiesAlone(t *testing.T) {
	t.Parallel()
	w := newDinnerWorld(t)
	w.must(w.disconnect("ana", false))
	w.Settle()
	for _, person := range []string{"ben", "eve"} {
		connection := mirror.Connection{GroupID: party, AccountID: "ana", OwnerID: person}
		if err := w.Groups.Disconnect(t.Context(), connection, true, mirrortest.Cause); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", person, err)
		}
	}
	if err := w.disconnect("ana", false); !fault.Is(err, fault.NotFound) {
		t.Errorf("disconnected again, keeping: %v", err)
	}
	w.Settle()
	w.shows("ana", "Dinner")
	w.must(w.disconnect("ana", true))
	w.Settle()
	w.shows("ana")
	if err := w.disconnect("ana", true); !fault.Is(err, fault.NotFound) {
		t.Errorf("with nothing left: %v", err)
	}
}

func TestDisconnect_Keeping_SurvivesReconciliation(t *testing.T) {
	t.Parallel()
	w := newDinnerWorld(t)
	w.must(w.disconnect("ana", false))
	w.World.Run(2 * time.Minute)
	w.Reconcile()
	if ended, _, err := w.Groups.DeleteKept(t.Context(), ""); ended > 0 || err != nil {
		t.Errorf("the cleanup ended %d, %v", ended, err)
	}
	w.World.Run(2 * time.Minute)
	w.shows("ana", "Dinner")
}

// The copies of an account that is connected again stay.
func TestDisconnect_ConnectedAgainBeforeDeleted_Stays(t *testing.T) {
	t.Parallel()
	w := newDinnerWorld(t)
	w.must(w.disconnect("ana", true))
	w.Connect(party, "ana")
	w.Settle()
	w.shows("ana", "Dinner")
}

// The web app removes people without the program, which has not disconnected them yet.
func TestConnections_OfFormerMembers_AreNotNamed(t *testing.T) {
	t.Parallel()
	w := newConnectedWorld(t)
	w.Gather(party, "gm", "ben")
	shown, err := w.Groups.Connections(t.Context(), personOf("gm"), party)
	w.must(err)
	if len(shown.People) != 2 || shown.People[0] != "ben" || shown.People[1] != "gm" {
		t.Errorf("connected are %v", shown.People)
	}
}

// Documents of one's own can be read from the store, so what is changed after its author left is
// another's.
func TestUpdate_OfAnEventWhoseAuthorLeft_IsTheCreatorsFromThenOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.create("ana", "Dinner", mirrortest.Start.Add(9*time.Hour))
	w.must(err)
	owner := func() string {
		event, err := mirror.LoadEvent(t.Context(), w.Documents, made.ID)
		w.must(err)
		return event.OwnerID
	}
	present := func() map[string]int64 {
		doc, err := w.Documents.Get(t.Context(), store.Doc("groupEvents", party))
		w.must(err)
		counted := map[string]int64{}
		for _, author := range store.Fields(doc.Data).List("authors") {
			f := store.Fields(author.(map[string]any))
			counted[f.String("authorId")] = f.Int("present")
		}
		return counted
	}
	made.OwnerID = "gm" // who changes it
	w.retitle(made, "Supper")
	if owner() != "ana" {
		t.Errorf("while its author is a member, it is %s's", owner())
	}
	w.Gather(party, "gm", "ben")
	w.retitle(made, "Supper at Ben's")
	if counted := present(); owner() != "gm" || counted["ana"] != 0 || counted["gm"] != 1 {
		t.Errorf("changed after they left, it is %s's, and counted are %v", owner(), counted)
	}
	w.Gather(party, "gm", "ana", "ben")
	title := "Mine again"
	_, err = w.Groups.Update(t.Context(), personOf("ana"), groupevents.Reference{GroupID: party, ID: made.ID},
		groupevents.Edit{Title: &title}, mirrortest.Cause)
	if !fault.Is(err, fault.Forbidden) {
		t.Errorf("its former author changes it: %v", err)
	}
	_, err = w.Groups.Delete(t.Context(), personOf("gm"), groupevents.Reference{GroupID: party, ID: made.ID}, mirrortest.Cause)
	w.must(err)
	if counted := present(); counted["gm"] != 0 || counted["ana"] != 0 {
		t.Errorf("after it was deleted, counted are %v", counted)
	}
}

// people changes the members of the party, as the API does.
func (w *world) people() *scheduler.Service {
	ulid := func(prefix string) string { return w.Groups.NewID(prefix) }
	return &scheduler.Service{Store: w.Documents, Outbox: w.Outbox, Now: w.Clock.Now, IDs: scheduler.IDs{ULID: ulid}}
}

// leaves removes ana from the party, whose session others see, over the API.
func (w *world) leaves() {
	w.Helper()
	w.must(w.people().LeaveGroup(w.T.Context(), personOf("ana"), party))
}

// returns brings ana back into the party over the API.
func (w *world) returns() {
	w.Helper()
	w.edits(scheduler.EditGroup{Add: []string{"ana"}})
	_, err := w.people().AcceptGroup(w.T.Context(), personOf("ana"), party)
	w.must(err)
}

func (w *world) edits(ask scheduler.EditGroup) {
	w.Helper()
	_, err := w.people().UpdateGroup(w.T.Context(), personOf("gm"), party, ask)
	w.must(err)
}

// No poll changes here, and no drain runs.
func TestSharedSession_OfOneWhoLeaves_IsWithdrawn(t *testing.T) {
	t.Parallel()
	removed := func(w *world) { w.Gather(party, "gm", "ben") } // as the web app does
	for name, leave := range map[string]func(w *world){
		"who leaves":            (*world).leaves,
		"whom gm removes":       func(w *world) { w.edits(scheduler.EditGroup{Remove: []string{"ana"}}) },
		"whom gm does not name": func(w *world) { w.edits(scheduler.EditGroup{MemberIDs: []string{"ben"}}) },
		"who leaves, disconnected": func(w *world) {
			w.must(w.disconnect("ana", true))
			w.Settle()
			w.leaves()
		},
		"removed by the web app, and cleaned up": func(w *world) {
			removed(w)
			w.cleanUp()
		},
		"removed by the web app, and an event is made": func(w *world) {
			removed(w)
			_, err := w.create("ben", "Dinner", mirrortest.Start.Add(-2*time.Hour))
			w.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSharingWorld(t)
			leave(w)
			w.Settle()
			for _, person := range []string{"gm", "ben"} {
				for _, event := range w.Shown(person) {
					if event.Summary == "Session" {
						t.Errorf("%s sees the session still", person)
					}
				}
			}
			if len(w.Failed) > 0 {
				t.Errorf("failed: %v", w.Failed)
			}
		})
	}
}

// Comparing all sessions of a group costs reads for each: it is for members of groups that share.
func TestMembers_WhereNoSessionMayChange_HaveNoneCompared(t *testing.T) {
	t.Parallel()
	name := "Others"
	parted := func(w *world) {
		w.Gather(party, "gm", "ben")
		_, _, err := w.Groups.EndConnections(w.T.Context(), "")
		w.must(err)
	}
	for what, c := range map[string]struct {
		shares bool
		change func(w *world)
		want   bool
	}{
		"a member of a group that shares":    {true, (*world).leaves, true},
		"a member of another":                {false, (*world).leaves, false},
		"a member whom the web app removed":  {true, parted, true},
		"one of another, whom it removed":    {false, parted, false},
		"a name":                             {true, func(w *world) { w.edits(scheduler.EditGroup{Name: &name}) }, false},
		"an invitation":                      {true, func(w *world) { w.edits(scheduler.EditGroup{Add: []string{"cho"}}) }, false},
		"members who stay as they are":       {true, func(w *world) { w.edits(scheduler.EditGroup{MemberIDs: []string{"ana", "ben"}}) }, false},
		"a member, whom an edit had invited": {true, func(w *world) { w.edits(scheduler.EditGroup{Remove: []string{"cho"}}) }, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newConnectedWorld(t)
			w.share(c.shares)
			w.Settle()
			state, err := w.Documents.Get(t.Context(), poll.GroupStatePath(party))
			w.must(err)
			c.change(w)
			work, err := w.Documents.Get(t.Context(), poll.GroupWorkPath(poll.SessionsWork(party, "", "", mirrortest.Start).ID))
			w.must(err)
			if work.Exists() != c.want {
				t.Errorf("there is work: %t", work.Exists())
			}
			after, err := w.Documents.Get(t.Context(), poll.GroupStatePath(party))
			w.must(err)
			if !reflect.DeepEqual(state.Data, after.Data) {
				t.Errorf("counted is %v, was %v", after.Data, state.Data)
			}
		})
	}
}
