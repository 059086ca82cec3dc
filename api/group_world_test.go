package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"questscheduler/api"
	"questscheduler/groupevents"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/wakes"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// groupWorld is what plans the mirrors of groups' events.
type groupWorld struct {
	mirrors *mirrors.Service
	store   *refusing
}

// refusing is a store that refuses to read what is needed to plan for some people.
type refusing struct {
	store.Store
	people []string
}

type refusingTx struct {
	store.Tx
	from *refusing
}

func (r *refusing) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return r.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, refusingTx{tx, r}) })
}

func (r refusingTx) Get(ctx context.Context, path store.Path) (store.Document, error) {
	for _, person := range r.from.people {
		if path == mirror.PersonPath(person) {
			return store.Document{}, errors.New("it cannot be read")
		}
	}
	return r.Tx.Get(ctx, path)
}

func (w *world) openGroupEvents(options *api.Options) *groupevents.Service {
	w.groups.store = &refusing{Store: w.changes}
	w.groups.mirrors = &mirrors.Service{
		Store: w.groups.store, Outbox: w.outbox, Installation: "test", SharedBy: groupevents.SharedBy, HoldShare: 0.5, HoldMin: 5,
		Now:    options.Now,
		Follow: func(context.Context, string, string, scheduler.Cause) error { return nil },
		NewID:  func() string { return strings.TrimPrefix(options.NewID("mir"), "mir_") }, Log: options.Log,
	}
	return &groupevents.Service{
		Store: w.changes, Outbox: w.outbox, Plans: w.groups.mirrors, Now: options.Now, NewID: options.NewID, Log: options.Log,
		CheckCards: func(ctx context.Context, groupID, at string, cause scheduler.Cause) (string, error) {
			return options.Scheduler.CheckCards(ctx, groupID, at, cause)
		},
	}
}

// carryOutGroupWork runs the work of groups' events that is woken, as the pool does.
func (w *world) carryOutGroupWork() {
	w.t.Helper()
	for {
		due := slices.DeleteFunc(
			w.wakes.Due(w.options.Now()), func(wake wakes.Pending) bool { return !slices.Contains(w.outbox.Kinds(), wake.Kind) },
		)
		if len(due) == 0 {
			return
		}
		run, taken := w.wakes.Take(due[0].ID)
		if !taken {
			w.t.Fatal("the wake does not wait")
		}
		again, err := w.outbox.Run(w.t.Context(), run.Kind, run.Entry)
		must(w.t, err)
		run.Settle(again, nil)
	}
}

// drainGroups hands over the recorded work that is due, and returns how much.
func (w *world) drainGroups() (n int) {
	w.t.Helper()
	woken, err := w.outbox.Drain(w.t.Context())
	must(w.t, err)
	for _, kind := range woken {
		n += kind.N
	}
	return n
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
	AccountID string `json:"target_account_id"`
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
	w.want(
		http.StatusCreated,
		call{as: as, method: "POST", path: "/v1/groups/" + group + "/connections", body: map[string]any{"account_id": account}},
		nil,
	)
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

// accountsShowing are the accounts whose mirrors of an event are in a state.
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
