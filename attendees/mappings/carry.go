package mappings

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"questscheduler/scheduler"
)

// Refreshed counts what a step of Refresh did.
type Refreshed struct {
	Loaded    int // loads of the source
	Addresses int // primary addresses that were handled
	Followed  int // calendars followed from now on
	Relisted  int // calendars to be listed again
	Released  int // calendars no longer followed
	Due       int // events whose guests are compared again
	Unlinked  int // delegated accounts that are no longer needed
	Failed    int // failed loads, and calendars that are not watched yet
}

func (r *Refreshed) add(more Refreshed) {
	r.Loaded, r.Addresses, r.Followed, r.Relisted = r.Loaded+more.Loaded, r.Addresses+more.Addresses, r.Followed+more.Followed,
		r.Relisted+more.Relisted
	r.Released, r.Due, r.Unlinked, r.Failed = r.Released+more.Released, r.Due+more.Due, r.Unlinked+more.Unlinked, r.Failed+more.Failed
}

const (
	// pageSize is how many addresses a step handles, and stepTime about how long it takes.
	pageSize = 20
	stepTime = 2 * time.Second
)

// position is where carrying out continues: between two versions, after an address.
type position struct {
	From, To string
	// All handles addresses that did not change, too.
	All   bool
	After string
}

// Refresh is a step of the job: at "" it loads the mappings, and further ones carry out what
// changed. next is where to continue; "" at the end. A failed load is stored, and an error
// only for a person who waits for it (byHand); then, every address is handled again, which
// also revives delegated accounts that Google refused.
func (m *Service) Refresh(ctx context.Context, cause scheduler.Cause, at string, byHand bool) (did Refreshed, next string, err error) {
	here := position{All: byHand}
	if at == "" {
		_, _, err := m.load(ctx, cause, "")
		if stored := new(loadError); errors.As(err, &stored) && !byHand {
			did.Failed++
		} else if err != nil {
			return did, "", err
		} else {
			did.Loaded++
		}
	} else if json.Unmarshal([]byte(at), &here) != nil {
		here = position{All: byHand} // another version of the program wrote it
	}
	more, further, err := m.carry(ctx, cause, here)
	did.add(more)
	if err != nil || further == nil {
		return did, "", err
	}
	encoded, err := json.Marshal(further)
	return did, string(encoded), err
}

// carryFor carries out what changed, as far as time allows.
func (m *Service) carryFor(ctx context.Context, cause scheduler.Cause, most time.Duration) error {
	at := &position{}
	for until := m.Now().Add(most); at != nil && m.Now().Before(until); {
		var err error
		_, at, err = m.carry(ctx, cause, *at)
		if err != nil {
			return err
		}
	}
	return nil
}

// carry carries out a page of what changed. next is nil at the end.
func (m *Service) carry(ctx context.Context, cause scheduler.Cause, here position) (did Refreshed, next *position, err error) {
	t, err := m.tables(ctx)
	if err != nil || t.state.Version == "" { // never loaded
		return did, nil, err
	}
	if here.From != t.state.Followed || here.To != t.state.Version {
		here = position{From: t.state.Followed, To: t.state.Version, All: here.All}
	}
	changed := Changed(t.from, t.to)
	primaries := changed
	if here.All || t.state.Released || t.state.Delegated != m.Delegated {
		primaries = append(slices.Clone(changed), t.to.Primaries()...)
		slices.Sort(primaries)
		primaries = slices.Compact(primaries)
	}
	until := m.Now().Add(stepTime)
	for _, primary := range primaries {
		if primary <= here.After {
			continue
		}
		if did.Addresses == pageSize || m.Now().After(until) {
			return did, &here, nil
		}
		_, differs := slices.BinarySearch(changed, primary)
		one, err := m.carryOne(ctx, cause, t, primary, differs)
		did.add(one)
		if err != nil {
			return did, nil, err
		}
		did.Addresses++
		here.After = primary
	}
	if !here.All && !t.state.Released && len(primaries) == 0 && t.state.Followed == t.state.Version && t.state.Delegated == m.Delegated {
		return did, nil, nil
	}
	more, err := m.finish(ctx, cause, t, changed)
	did.add(more)
	if errors.Is(err, errReplaced) { // by a version that must be carried out, too
		return did, &position{All: here.All}, nil
	}
	return did, nil, err
}

// carryOne carries out what changed about one primary address. It is idempotent.
func (m *Service) carryOne(ctx context.Context, cause scheduler.Cause, t tables, primary string, changed bool) (did Refreshed, err error) {
	if gone := t.from.State(primary) == Leaving && !t.to.Maps(primary); !gone {
		did, err = m.settle(ctx, settling{primary: primary, relist: changed, delegate: true}, cause)
		if err == nil && changed {
			did.Due, err = m.Guests.CompareAgain(ctx, cause, primary)
		}
	}
	if err == nil && !m.Delegated {
		var unlinked bool
		unlinked, err = m.undelegate(ctx, cause, primary)
		if unlinked {
			did.Unlinked++
		}
	}
	return did, err
}
