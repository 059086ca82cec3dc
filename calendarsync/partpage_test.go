package calendarsync_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// pages is the world's consumer, and applies the events of a page together.
type pages struct {
	calendarsync.Consumer
	given []string // the events of each call, with the kind of the listing
	// fails, where set, is called for each event before it is applied together with others.
	fails    func(eventID string) error
	readOnly int // events that are shown to a reader
	// unconcerned is an event that does not concern the consumer.
	unconcerned string
}

func (p *pages) Concerns(calendar calendars.Calendar, eventID string) bool {
	return eventID != p.unconcerned && p.Consumer.Concerns(calendar, eventID)
}

func (p *pages) ApplyPage(
	ctx context.Context, run calendarsync.Run, observed []calendarsync.SyncedEvent, full bool,
) (map[string]bool, error) {
	call, applied := []string{map[bool]string{true: "all:", false: "changes:"}[full]}, map[string]bool{}
	for _, one := range observed {
		call = append(call, one.Event.ID)
		if !one.Writable {
			p.readOnly++
		}
	}
	p.given = append(p.given, strings.Join(call, " "))
	for _, one := range observed {
		if p.fails != nil {
			if err := p.fails(one.Event.ID); err != nil {
				return applied, err
			}
		}
		if err := p.Apply(ctx, run, one); err != nil {
			return applied, err
		}
		applied[one.Event.ID] = true
	}
	return applied, nil
}

// inPages is a world with a consumer that takes pages, whose calendar has some events. It
// follows the calendar once follow is called.
func inPages(t *testing.T, events int) (w *worldtest.World, c *worldtest.Consumer, p *pages, ids []string) {
	t.Helper()
	c = &worldtest.Consumer{Name: "one"}
	w = worldtest.New(t, worldtest.Options{Consumers: []*worldtest.Consumer{c}})
	p = &pages{Consumer: w.Syncer.Consumers[0]}
	w.Syncer.Consumers = []calendarsync.Consumer{p}
	return w, c, p, insert(w, "gm", events)
}

// order gives the events that a consumer applied, in their order.
func order(c *worldtest.Consumer) (ids []string) {
	for _, applied := range c.Applied {
		_, id, _ := strings.Cut(applied, " ")
		ids = append(ids, id)
	}
	return ids
}

func TestPageConsumer_GetsAPageAtOnce(t *testing.T) {
	t.Parallel()
	w, c, p, ids := inPages(t, 5)
	follow(t, w, c, "gm", 1)
	w.Run(time.Minute)
	same(t, "the first listing", p.given, []string{"all: " + strings.Join(ids[:3], " "), "all: " + strings.Join(ids[3:], " ")})
	same(t, "applied", order(c), ids)
	p.given = nil
	w.PatchEvent("gm", ids[1], map[string]any{"summary": "Changed"})
	w.Run(time.Minute)
	same(t, "a change", p.given, []string{"changes: " + ids[1]})
	equal(t, "shown to a reader", p.readOnly, 0)
	read(t, w)
	atRest(t, w)
}

// What the consumer cannot apply with the others, however it fails, is applied alone.
func TestPageConsumer_ThatFailsInAPage_GetsTheRestOneByOne(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"fails":  func() error { return errors.New("planned") },
		"panics": func() error { panic("planned") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, c, p, ids := inPages(t, 5)
			p.fails = func(eventID string) error {
				if eventID == ids[1] {
					return fail()
				}
				return nil
			}
			follow(t, w, c, "gm", 1)
			w.RunDue()
			want := ids
			if name == "panics" { // so that it does not say what it applied
				want = append([]string{ids[0]}, ids...)
			}
			same(t, "applied", order(c), want)
			equal(t, "deferred", len(w.Calendar("gm").Backlogs["one"].Deferred), 0)
			read(t, w)
			if !strings.Contains(w.Log(), "a consumer failed") || !strings.Contains(w.Log(), "planned") {
				t.Error("nothing is logged of it")
			}
			atRest(t, w)
		})
	}
}

// A newer run has everything that a page had.
func TestPageConsumer_WhoseRunIsOvertaken_AppliesNothingMore(t *testing.T) {
	t.Parallel()
	w, c, p, ids := inPages(t, 5)
	overtaken := false
	p.fails = func(string) error {
		if overtaken {
			return nil
		}
		overtaken = true
		return scheduler.ErrFenced
	}
	follow(t, w, c, "gm", 1)
	w.RunDue()
	equal(t, "applied", len(c.Applied), 0)
	w.Run(2 * calendars.Lease)
	same(t, "applied by the next run", order(c), ids)
	read(t, w)
}

// twice is a calendar whose listing shows the first event of each page once more at its end.
type twice struct{ calendarsync.Google }

func (g twice) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	page, err := g.Google.List(ctx, ref, mask, syncToken, pageToken)
	if len(page.Events) > 0 {
		page.Events = append(slices.Clip(page.Events), page.Events[0])
	}
	return page, err
}

// An event that stands on a page twice changed in between: the order counts. One that cannot be
// read, or identified, is no part of what is applied together.
func TestPageConsumer_EventsOfTheirOwn_AreLeftOutOfThePage(t *testing.T) {
	t.Parallel()
	t.Run("shown twice", func(t *testing.T) {
		t.Parallel()
		w, c, p, ids := inPages(t, 2)
		w.Syncer.Google = twice{w.Syncer.Google}
		follow(t, w, c, "gm", 1)
		w.RunDue()
		same(t, "together", p.given, []string{"all: " + ids[1]})
		same(t, "applied", order(c), []string{ids[1], ids[0], ids[0]})
		read(t, w)
	})
	t.Run("of no concern", func(t *testing.T) {
		t.Parallel()
		w, c, p, ids := inPages(t, 3)
		p.unconcerned = ids[1]
		follow(t, w, c, "gm", 1)
		w.RunDue()
		same(t, "together", p.given, []string{"all: " + ids[0] + " " + ids[2]})
		same(t, "applied", order(c), []string{ids[0], ids[2]})
	})
	for name, wrong := range map[string]string{"unreadable": "start", "nameless": "id"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, c, p, ids := inPages(t, 3)
			w.Malform("gm", ids[1], wrongFields[wrong])
			follow(t, w, c, "gm", 1)
			w.RunDue()
			same(t, "together", p.given, []string{"all: " + ids[0] + " " + ids[2]})
			w.Heal()
			w.Run(2 * time.Hour)
			read(t, w)
		})
	}
}
