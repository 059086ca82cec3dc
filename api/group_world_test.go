package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/groupevents"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memoryqueue"
	"questscheduler/scheduler"
)

// groupWorld plans the mirrors of groups' events as far as these tests need it: one for each
// connected account.
type groupWorld struct {
	store store.Store
	now   func() time.Time
	// refuse, where set, is asked before each planning.
	refuse  func(ownerID string) error
	planned []string // "owner event", in order
}

func (w *world) openGroupEvents(options *api.Options) *groupevents.Service {
	w.groups = groupWorld{store: w.changes, now: options.Now}
	return &groupevents.Service{
		Store: w.changes, Queue: w.queue, Plan: w.groups.plan, Now: options.Now, NewID: options.NewID, Log: options.Log,
	}
}

func (g *groupWorld) plan(ctx context.Context, ownerID, icalUID string, _ scheduler.Cause) error {
	if g.refuse != nil {
		if err := g.refuse(ownerID); err != nil {
			return err
		}
	}
	g.planned = append(g.planned, ownerID+" "+icalUID)
	return g.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		connections, err := mirror.ConnectionsOf(ctx, tx, ownerID)
		if err != nil {
			return err
		}
		groups := map[string][]string{}
		var ids []string
		for _, c := range connections {
			groups[c.GroupID] = append(groups[c.GroupID], c.AccountID)
			ids = append(ids, c.GroupID)
		}
		slices.Sort(ids)
		events, err := mirror.OfGroupsUID(ctx, tx, slices.Compact(ids), icalUID)
		if err != nil {
			return err
		}
		left, err := mirror.MirrorsOfUID(ctx, tx, ownerID, icalUID)
		if err != nil {
			return err
		}
		for _, event := range events {
			for _, account := range groups[event.GroupID] {
				id := mirror.MirrorID(event.ID, account)
				if event.Status == "cancelled" || event.AccountID == account {
					continue
				}
				left = slices.DeleteFunc(left, func(m mirror.Mirror) bool { return m.ID == id })
				if err := tx.Set(mirror.Path(id), mirror.Encode(mirror.Mirror{
					ID: id, OwnerID: ownerID, CanonicalID: event.ID, ICalUID: icalUID, GroupID: event.GroupID, TargetAccountID: account,
					Target: mirror.PrimaryTarget, Detail: mirror.Full, Generation: 1, EventID: "questmirror1", Wanted: event.Title,
					State: mirror.Pending, Due: g.now(), Ends: event.Until, CreatedAt: g.now(), UpdatedAt: g.now(),
				})); err != nil {
					return err
				}
			}
		}
		for _, m := range left {
			if err := tx.Update(mirror.Path(m.ID), store.Set("state", string(mirror.Deleting))); err != nil {
				return err
			}
		}
		return nil
	})
}

// carryOutGroupWork runs the tasks of groups' events that wait, as the queue does.
func (w *world) carryOutGroupWork() {
	w.t.Helper()
	for {
		due := slices.DeleteFunc(w.queue.Due(begin.AddDate(1, 0, 0)), func(task memoryqueue.Pending) bool { return task.Kind != poll.GroupWorkKind })
		if len(due) == 0 {
			return
		}
		run, taken := w.queue.Take(due[0].ID)
		if !taken {
			w.t.Fatal("the task does not wait")
		}
		if verdict := w.options.GroupEvents.Handle(w.t.Context(), run.Delivery); !run.Settle(verdict) || verdict.Outcome != queue.Done {
			w.t.Fatalf("the task ends with %v", verdict)
		}
	}
}

// groupWork counts the recorded work that is not done.
func (w *world) groupWork() int {
	w.t.Helper()
	handed, err := w.options.GroupEvents.Drain(w.t.Context())
	must(w.t, err)
	return handed
}

type groupEventJSON struct {
	ID, Ref, Title, Start, End, Location, Description, Status string
	AllDay                                                    bool `json:"all_day"`
	Timezone                                                  *string
	AuthorID                                                  string `json:"author_id"`
	Version                                                   int
	Mirrors                                                   []groupMirrorJSON
}

type groupMirrorJSON struct {
	AccountID string `json:"account_id"`
	State     string
}

type groupConnectionsJSON struct {
	Connections []struct {
		AccountID string `json:"account_id"`
		Email     string
	}
	MemberIDs []string `json:"member_ids"`
}

var movieNight = map[string]any{
	"title": "Movie night", "start": "2026-03-10T19:00:00+01:00", "end": "2026-03-10T22:00:00+01:00", "timezone": "Europe/Berlin",
	"location": "Ana's place", "description": "Bring snacks",
}

// connect connects an account of a person's to a group, and gives the account's id.
func (w *world) connect(as, group string) string {
	w.t.Helper()
	account := w.newAccount(as)
	w.want(http.StatusCreated, call{as: as, method: "POST", path: "/v1/groups/" + group + "/connections", body: map[string]any{"account_id": account}}, nil)
	w.carryOutGroupWork()
	return account
}

// newGroupEvent makes an event of a group and has it planned for everybody.
func (w *world) newGroupEvent(as, group string, body map[string]any) (made groupEventJSON) {
	w.t.Helper()
	w.want(http.StatusCreated, call{as: as, method: "POST", path: "/v1/groups/" + group + "/events", body: body}, &made)
	w.carryOutGroupWork()
	return made
}

// groupEvent reads an event as one person sees it.
func (w *world) groupEvent(as, group, ref string) (shown groupEventJSON) {
	w.t.Helper()
	w.want(http.StatusOK, call{as: as, method: "GET", path: "/v1/groups/" + group + "/events/" + ref}, &shown)
	return shown
}

// accountsShowing are the accounts whose mirrors of an event are to be, or are, in a state.
func (w *world) accountsShowing(eventID string, state mirror.State) (ids []string) {
	w.t.Helper()
	mirrors, err := mirror.OfEvent(w.t.Context(), w.store, eventID)
	must(w.t, err)
	for _, m := range mirrors {
		if m.State == state {
			ids = append(ids, m.TargetAccountID)
		}
	}
	slices.Sort(ids)
	return ids
}

func sorted(ids ...string) []string {
	slices.Sort(ids)
	return ids
}

// candidatesOf are the ids in the answer to an ambiguous reference.
func candidatesOf(t *testing.T, got answer) (ids []string) {
	t.Helper()
	var read struct {
		Error struct {
			Detail struct {
				Candidates []struct{ ID, Ref, Title, Start string }
			}
		}
	}
	must(t, json.Unmarshal([]byte(got.text), &read))
	for _, c := range read.Error.Detail.Candidates {
		if c.Ref == "" || c.Title == "" || c.Start == "" {
			t.Errorf("a candidate is not whole: %+v", c)
		}
		ids = append(ids, c.ID)
	}
	return ids
}
