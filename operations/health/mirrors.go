package health

import (
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/internal/mirror"
)

// Limits of what is counted of mirrors. More than that is read nowhere.
const (
	maxPendingMirrors = 50 // into one account
	maxFailedMirrors  = 50 // into one account
	maxContested      = 50 // into one account
	maxMirrors        = 50 // of everybody's in one state, for an overview
	maxPlanning       = 50 // people, for an overview
)

// ofMirrors adds the mirrors into an account: those whose write is pending, those that
// cannot be written, and those that are not made because another program copies copies.
func (r *Reader) ofMirrors(ctx context.Context, health *Account) error {
	pending, err := mirror.IntoAccountInState(ctx, r.Store, health.ID, maxPendingMirrors, mirror.Pending, mirror.Deleting)
	if err != nil {
		return err
	}
	failed, contested, err := r.wrongMirrors(ctx, health.ID)
	if err != nil {
		return err
	}
	health.PendingWrites += len(pending)
	health.FailedMirrors = len(failed)
	if len(failed) > 0 {
		health.Troubles = append(health.Troubles, mirrorTrouble(failed))
	}
	looping := loopingAmong(contested)
	if len(looping) > 0 {
		health.Troubles = append(health.Troubles, loopTrouble(looping))
	}
	if len(failed)+len(looping) == 0 {
		return nil
	}
	worstFirst(health.Troubles)
	health.Status = Worst(health.Status, Degraded)
	return nil
}

// wrongMirrors reads the mirrors into an account that cannot be written, and those that another
// program copies. As a rule there are few of both, for one query.
func (r *Reader) wrongMirrors(ctx context.Context, accountID string) (failed, contested []mirror.Mirror, err error) {
	const most = maxFailedMirrors + maxContested
	both, err := mirror.IntoAccountInState(ctx, r.Store, accountID, most, mirror.Failed, mirror.Contested)
	if err != nil {
		return nil, nil, err
	}
	if len(both) < most {
		isContested := func(m mirror.Mirror) bool { return m.State == mirror.Contested }
		isFailed := func(m mirror.Mirror) bool { return !isContested(m) }
		failed, contested = slices.DeleteFunc(slices.Clone(both), isContested), slices.DeleteFunc(both, isFailed)
		return failed[:min(len(failed), maxFailedMirrors)], contested, nil
	}
	failed, err = mirror.IntoAccountInState(ctx, r.Store, accountID, maxFailedMirrors, mirror.Failed)
	if err != nil {
		return nil, nil, err
	}
	contested, err = mirror.IntoAccountInState(ctx, r.Store, accountID, maxContested, mirror.Contested)
	return failed, contested, err
}

// mirrorTrouble is what is wrong with an account into which mirrors cannot be written.
func mirrorTrouble(failed []mirror.Mirror) Trouble {
	first := slices.MinFunc(failed, func(a, b mirror.Mirror) int { return a.FailedSince.Compare(b.FailedSince) })
	number := "1 event of another calendar is"
	if n := len(failed); n > 1 {
		number = fmt.Sprint(n, " events of other calendars are")
		if n == maxFailedMirrors {
			number = fmt.Sprint(n, " or more events of other calendars are")
		}
	}
	because := ""
	if first.LastError != "" {
		because = " Google's answer: " + first.LastError
	}
	return Trouble{
		Code: "mirror_failed", Status: Degraded, Since: first.FailedSince,
		Message: number + " missing or out of date here: writing failed, and is tried again once a day." + because +
			" If this stays, link the account again, or take it out of the policies.",
	}
}

func loopingAmong(mirrors []mirror.Mirror) []mirror.Mirror {
	return slices.DeleteFunc(mirrors, func(m mirror.Mirror) bool { return !m.IsLooping() })
}

// loopTrouble is what is wrong with an account whose calendars another program copies too.
func loopTrouble(looping []mirror.Mirror) Trouble {
	first := slices.MinFunc(looping, func(a, b mirror.Mirror) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return Trouble{
		Code: "copied_by_another_program", Status: Degraded, Since: first.CreatedAt,
		Message: fmt.Sprint("Copies of copies that are not made here: ", len(looping), ". ", first.LastError),
	}
}

// Mirrors are everybody's mirrors, as an overview shows them.
type Mirrors struct {
	// States counts them by state, in the order of mirror.States; states without any are
	// left out.
	States []MirrorState
	// OldestDue is when the one was due that is due longest; zero: none is due.
	OldestDue time.Time
	// Failed are some of those in ERROR, those that fail longest first.
	Failed     []mirror.Mirror
	MoreFailed bool
	// Planning counts the people whose events must be planned again, up to 50.
	Planning     int
	MorePlanning bool
}

// MirrorState is how many mirrors are in a state; More: or more than that.
type MirrorState struct {
	State mirror.State
	Count int
	More  bool
}

func (r *Reader) mirrors(ctx context.Context, o *Overview) (err error) {
	for _, state := range mirror.States {
		found, err := mirror.InState(ctx, r.Store, "", maxMirrors, state)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			o.Mirrors.States = append(o.Mirrors.States, MirrorState{State: state, Count: len(found), More: len(found) == maxMirrors})
		}
		if state == mirror.Failed {
			o.Mirrors.Failed, o.Mirrors.MoreFailed = found, len(found) == maxMirrors
		}
	}
	slices.SortStableFunc(o.Mirrors.Failed, func(a, b mirror.Mirror) int { return a.FailedSince.Compare(b.FailedSince) })
	o.Mirrors.OldestDue, err = mirror.OldestDue(ctx, r.Store, o.Now)
	if err != nil {
		return err
	}
	o.Mirrors.Planning, err = mirror.CountPeopleToPlan(ctx, r.Store, maxPlanning)
	o.Mirrors.MorePlanning = o.Mirrors.Planning == maxPlanning
	return err
}

// MirrorStates are the states that Figures count: mirrors that are as wanted, and the many
// that are covered, are read for no figure.
var MirrorStates = []mirror.State{mirror.Pending, mirror.Deleting, mirror.Suppressed, mirror.Contested, mirror.Failed}

// countMirrors counts the mirrors that are not as wanted.
func (r *Reader) countMirrors(ctx context.Context, figures *Figures) (err error) {
	for _, state := range MirrorStates {
		found, err := mirror.InState(ctx, r.Store, "", FiguresMost, state)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			figures.Mirrors[state] = len(found)
		}
		if state == mirror.Contested {
			figures.MirrorsLooping = len(loopingAmong(found))
		}
	}
	figures.MirrorsDue, err = mirror.OldestDue(ctx, r.Store, r.Now())
	return err
}
