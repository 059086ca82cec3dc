package timers

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Parts are what the jobs are made of.
type Parts struct {
	Scheduler *scheduler.Service
	Watcher   *calendarsync.Watcher
	// FollowLinks carries on what became of linked accounts
	// (calendarsync.Links.FollowDue); nil: nobody links any.
	FollowLinks func(ctx context.Context, cause scheduler.Cause) (settled int, err error)
	// FallbackEvery is the period of the sweep, over which it is spread.
	FallbackEvery time.Duration
	// NoSync leaves out what speaks with calendars (QS_SYNC=off).
	NoSync bool
	// CheckAccounts asks after the accounts that nobody used for a day, so that a
	// dead grant is found before it is needed, and counts what it found; more says
	// that it is to be asked again at once, for the others. nil: nobody links any.
	CheckAccounts func(ctx context.Context) (did Counts, more bool, err error)
	// SweepCards checks a page of the cards of polls that others wrote
	// (scheduler.Service.SweepCards); nil where the cards are not ours.
	SweepCards func(ctx context.Context, at string, cause scheduler.Cause) (checked int, next string, err error)
	// Observing leaves what others keep as it is (QS_SYNC=observe).
	Observing bool
	// Documents is what the cleanup clears up, and Cleaning what it removes
	// beside what every deployment has.
	Documents store.Store
	Cleaning  []Cleaning
	// Health looks over a page of the linked accounts, and counts them by how they
	// are; nil leaves the job out.
	Health Step
	Now    func() time.Time
	Log    *slog.Logger
}

// Jobs is the table.
func Jobs(p Parts) []Job {
	day := 24 * time.Hour
	clean := cleanup{p.cleanings(), p.Documents, p.Now, p.Log}
	table := []Job{
		{
			Name: Drain, Every: time.Minute, Step: p.drain,
			Does: "hand over what was committed and may not have been handed over",
		},
		{
			// At 3 in the morning in Japan.
			Name: RenewWatches, Every: day, Offset: 18 * time.Hour, AtStart: true, Step: p.renew,
			Does: "renew the watch channels that the drain did not, and stop those that nothing needs",
		},
		{
			Name: PollFallback, Every: p.FallbackEvery, AtStart: true, AfterStart: time.Minute, Step: p.fallBack,
			Does: "look for what pushes missed, calendar by calendar",
		},
		{
			Name: Cleanup, Every: day, Offset: 3 * time.Hour, Step: clean.step,
			Does: "remove what is past its time",
		},
	}
	if p.Health != nil {
		table = append(table, Job{
			Name: Health, Every: 6 * time.Hour, Does: "look over the health of the linked accounts", Step: p.Health,
		})
	}
	return table
}

func (p Parts) drain(ctx context.Context, run Run) (Stretch, error) {
	drained, err := p.Scheduler.Drain(ctx, run.Cause)
	did := Counts{
		{"calendar events to make or delete", drained.Intents},
		{"announcements", drained.Announcements},
		{"cards to draw", drained.Cards},
		{"looks at calendars", drained.Looks},
	}
	if err == nil && !p.NoSync {
		var tried int
		tried, err = p.Watcher.Retry(ctx, run.Cause)
		did = append(did, Count{"watch channels renewed or tried again", tried})
	}
	if err != nil || p.FollowLinks == nil {
		return Stretch{Did: did}, err
	}
	// What Google does not let through now is due again in a minute.
	settled, err := p.FollowLinks(ctx, run.Cause)
	if err != nil {
		p.Log.WarnContext(ctx, "what became of linked accounts is not carried on yet", "trace", run.Cause.Trace, "error", err)
	}
	return Stretch{Did: append(did, Count{"linked accounts", settled})}, nil
}

func (p Parts) renew(ctx context.Context, run Run) (Stretch, error) {
	if p.NoSync {
		return Stretch{}, nil
	}
	renewed, next, err := p.Watcher.RenewPage(ctx, run.Cause, run.At)
	return Stretch{Next: next, Did: Counts{
		{"calendars", renewed.Calendars},
		{"watch channels opened", renewed.Opened},
		{"watch channels stopped", renewed.Stopped},
		{"failed", renewed.Failed},
	}}, err
}

// Where a sweep is that has gone through the calendars: at the accounts, then at
// the cards, with the place among those behind it.
const (
	atAccounts = "accounts"
	atCards    = "cards "
)

func (p Parts) fallBack(ctx context.Context, run Run) (Stretch, error) {
	if p.NoSync {
		return Stretch{}, nil
	}
	if run.At == atAccounts {
		did, more, err := p.CheckAccounts(ctx)
		if more {
			return Stretch{Next: atAccounts, Did: did}, err
		}
		return Stretch{Next: p.firstCards(), Did: did}, err
	}
	if place, is := strings.CutPrefix(run.At, atCards); is && p.SweepCards != nil {
		return p.sweepCards(ctx, run, place)
	}
	spread := p.FallbackEvery
	if run.ByHand {
		spread = 0
	}
	swept, next, err := p.Watcher.SweepPage(ctx, run.Cause, run.At, spread)
	switch {
	case next == "" && p.CheckAccounts != nil:
		next = atAccounts
	case next == "":
		next = p.firstCards()
	}
	return Stretch{Next: next, Did: Counts{
		{"calendars", swept.Calendars},
		{"calendars handed over", swept.HandedOver},
		{"looks", swept.Syncs},
		{"fresh calendars left out", swept.Fresh},
		{"polls set right", swept.Repaired},
		{"failed", swept.Failed},
	}.without("calendars handed over", run.ByHand).without("looks", !run.ByHand).without("fresh calendars left out", !run.ByHand)}, err
}

// firstCards is where the cards begin; "" where they are not ours.
func (p Parts) firstCards() string {
	if p.SweepCards == nil {
		return ""
	}
	return atCards
}

func (p Parts) sweepCards(ctx context.Context, run Run, place string) (Stretch, error) {
	checked, next, err := p.SweepCards(ctx, place, run.Cause)
	if next != "" {
		next = atCards + next
	}
	return Stretch{Next: next, Did: Counts{{"cards checked", checked}}}, err
}

// without leaves a row out.
func (c Counts) without(what string, leave bool) Counts {
	for i := range c {
		if leave && c[i].What == what {
			return append(c[:i:i], c[i+1:]...)
		}
	}
	return c
}
