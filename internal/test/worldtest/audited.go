package worldtest

import (
	"context"
	"net/http"
	"time"

	"questscheduler/availability"
	"questscheduler/demo/sim/control"
	"questscheduler/feed"
	"questscheduler/internal/accounts"
	"questscheduler/internal/test/audit"
)

// AuditProblems is what an audit finds in a world at rest. touched are the people in whose
// calendars somebody changed or kept copies by hand, and stopped another program's copies of
// copies that are not mirrored on, by id.
// confirmed: all held cancellations were confirmed.
func (w *World) AuditProblems(confirmed bool, stopped map[string]bool, touched ...string) []string {
	w.t.Helper()
	return w.audit(func(ctx context.Context, world audit.World) ([]string, error) {
		world.Confirmed, world.Stopped = confirmed, stopped
		return audit.Findings(ctx, world)
	}, touched)
}

// LostAuditProblems is what an audit finds of polls' errors while a calendar is lost and
// nothing else is wrong.
func (w *World) LostAuditProblems() []string {
	w.t.Helper()
	return w.audit(audit.LostFindings, nil)
}

// PendingAuditProblems is what an audit finds at any time of calendars that are not read to
// their end.
func (w *World) PendingAuditProblems() []string {
	w.t.Helper()
	defer w.meter.turn(w.meter.turn(checks))
	if !w.Mirroring() {
		return nil
	}
	findings, err := audit.PendingFindings(w.ctx, audit.World{Now: w.Clock.Now(), Store: w.observed.stored, Answer: w.answered})
	w.must(err)
	return findings
}

// stateProblems: the state of each poll fits its error and its reschedule.
func (p *picture) stateProblems() (problems []string) {
	for path := range p.polls.all {
		if wrong := audit.State(path.ID(), p.world.observed.document(path).Data); wrong != "" {
			problems = append(problems, wrong)
		}
	}
	return problems
}

func (w *World) audit(find func(context.Context, audit.World) ([]string, error), touched []string) []string {
	w.t.Helper()
	defer w.meter.turn(w.meter.turn(checks))
	world := audit.World{
		Now: w.Clock.Now(), Store: w.observed.stored, Google: w.transport(), Readers: map[string]string{},
		Lost: map[string]bool{}, Touched: map[string]bool{},
		Feed: w.feedText, Answer: w.answered, Chosen: ForeignPrefix,
	}
	if w.Discord != nil && !w.past.silent {
		world.Discord = w.discordTransport()
	}
	for name, browser := range w.browsers {
		if name != keeper {
			world.Readers[Person(name).Email] = browser.AccessToken
		}
	}
	world.Readers[ClubCalendar] = w.browsers[keeper].AccessToken
	if w.ClubLost() {
		world.Lost[ClubCalendar] = true
	}
	if w.Mirroring() {
		for _, name := range w.MirroredNames() {
			if id := w.Overlay(name); id != "" {
				world.Readers[id] = w.browsers[name].AccessToken
			}
		}
	}
	for _, name := range touched {
		world.Touched[Person(name).Email] = true
		world.Touched[w.Overlay(name)] = true
	}
	for _, person := range People {
		world.People = append(world.People, person.ID)
	}
	findings, err := find(w.ctx, world)
	w.must(err)
	return findings
}

func (w *World) discordTransport() http.RoundTripper { return control.Transport(w.Discord.Handler()) }

// feedText is the text of a person's feed at a later time.
func (w *World) feedText(person string, after time.Duration) (string, error) {
	now := w.Clock.Now().Add(after)
	service := &feed.Service{Store: w.Documents, Now: func() time.Time { return now }, URL: "https://feeds.example"}
	address, err := service.Renew(w.ctx, person, now)
	if err != nil {
		return "", err
	}
	calendar, err := service.Calendar(w.ctx, secretOf(address), func(string) bool { return false })
	return string(calendar.Text), err
}

// answered is when an account's owner is answered to be busy, by stored events alone.
func (w *World) answered(account string, from, to time.Time) (busy, unknown []audit.Interval, err error) {
	service := &availability.Service{Store: w.Documents, Google: silent{}, Now: w.Clock.Now, Recent: FallbackEvery + time.Hour}
	owner, _ := w.observed.document(accounts.Path(account)).Data["ownerId"].(string)
	answer, err := service.Own(w.ctx, owner, from, to, []string{account})
	for _, i := range answer.Busy {
		busy = append(busy, audit.Interval(i))
	}
	for _, i := range answer.Unknown {
		unknown = append(unknown, audit.Interval(i))
	}
	return busy, unknown, err
}
