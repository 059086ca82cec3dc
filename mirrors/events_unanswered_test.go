package mirrors_test

import (
	"context"
	"errors"
	"testing"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/test/points"
	"questscheduler/mirrors"
	"questscheduler/rules"
)

// Whichever call to Google goes unanswered, a request says so, and the same one again does its part.
func TestEvents_ACallUnanswered_SayThatAndAreRepeated(t *testing.T) {
	t.Parallel()
	const occurrence = "_20260312T090000Z"
	for name, row := range map[string]struct {
		call func(w *world, events *mirrors.Events, id string) error
		// gone reports whether it may have deleted what the same request then does not find.
		gone bool
		done func(w *world, id string) bool
	}{
		"create": {func(w *world, events *mirrors.Events, _ string) error {
			_, err := events.Create(w.ctx, gm, "request", dentist(), cause)
			return err
		}, false, func(w *world, _ string) bool { return len(w.titles(work)) == 2 }},
		"change": {func(w *world, events *mirrors.Events, id string) error {
			shown, err := events.Change(w.ctx, gm, id, mirrors.Change{Title: new("Surgeon")}, cause)
			if err == nil && shown.Title != "Surgeon" {
				w.Errorf("it is shown as %q", shown.Title)
			}
			return err
		}, false, func(w *world, id string) bool {
			shown, _ := w.events().Get(w.ctx, gm, id)
			return shown.Title == "Surgeon"
		}},
		"change an occurrence": {func(w *world, events *mirrors.Events, id string) error {
			_, err := events.Change(w.ctx, gm, id+occurrence, mirrors.Change{Title: new("Surgeon")}, cause)
			return err
		}, false, func(w *world, id string) bool {
			shown, _ := w.events().Get(w.ctx, gm, id+occurrence)
			return shown.Title == "Surgeon"
		}},
		"delete": {func(w *world, events *mirrors.Events, id string) error {
			return events.Delete(w.ctx, gm, id, nil, cause)
		}, true, func(w *world, id string) bool {
			_, err := w.events().Get(w.ctx, gm, id)
			return fault.Is(err, fault.NotFound)
		}},
		"delete an occurrence": {func(w *world, events *mirrors.Events, id string) error {
			return events.Delete(w.ctx, gm, id+occurrence, nil, cause)
		}, true, func(w *world, id string) bool {
			_, err := w.events().Get(w.ctx, gm, id+occurrence)
			return fault.Is(err, fault.NotFound)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				w := newWorld(t)
				made := w.create(dentist(func(e *mirrors.NewEvent) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=3"} }))
				p, events := &points.Points{}, w.events()
				events.Google = unanswered{w.client, p}
				p.FailAt(n)
				err := row.call(w, events, made.ID)
				if !p.Reached() {
					points.Struck(t, n-1, 4)
					w.must(err)
					if !row.done(w, made.ID) {
						t.Error("it is not done")
					}
					return
				}
				if !fault.Is(err, fault.Unavailable) {
					t.Errorf("with point %d failing it says %v", n, err)
				}
				if err := row.call(w, events, made.ID); err != nil && !(row.gone && fault.Is(err, fault.NotFound)) {
					t.Errorf("again, after point %d failed, it says %v", n, err)
				}
				w.must(w.queueSyncOf(refTo(work)))
				w.settle()
				if !row.done(w, made.ID) {
					t.Errorf("with point %d failing it is not done in the end", n)
				}
			}
		})
	}
}

// forgetful is a Google that does not know an event any more once it deleted it.
type forgetful struct {
	mirrors.EventGoogle
	err error
}

func (f *forgetful) DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (bool, error) {
	deleted, err := f.EventGoogle.DeleteQuietly(ctx, ref, id, etag)
	f.EventGoogle = forgotten{f.EventGoogle, f.err}
	return deleted, err
}

type forgotten struct {
	mirrors.EventGoogle
	err error
}

func (f forgotten) Get(context.Context, gcal.Ref, string) (gcal.Event, error) {
	return gcal.Event{}, f.err
}

// What its deletion left no trace of is left to the sync.
func TestDelete_OfWhatLeavesNoTombstone_IsFoundGoneLater(t *testing.T) {
	t.Parallel()
	missing, silent := fault.New(fault.NotFound, "there is no such event"), fault.New(fault.Unavailable, "it did not answer")
	for name, row := range map[string]struct{ answer, want error }{
		"not found":    {missing, nil},
		"not answered": {silent, silent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mirrorWork()
			made := w.create(dentist())
			w.wantTitles(home, "Dentist")
			events := w.events()
			events.Google = &forgetful{events.Google, row.answer}
			if err := events.Delete(w.ctx, gm, made.ID, nil, byGM); !errors.Is(err, row.want) {
				t.Errorf("it says %v, want %v", err, row.want)
			}
			w.sync(work)
			w.wantTitles(home)
		})
	}
}

// Each row is what Google answers to a deletion, and what is said of it.
func TestDelete_ThatGoogleRefuses_SaysWhy(t *testing.T) {
	t.Parallel()
	refused := control.Rule{Match: "events.delete", Status: 400, Reason: "invalid"}
	reader := control.Rule{Match: "events.list", Body: []byte(`{"accessRole":"reader"}`)}
	for name, row := range map[string]struct {
		rules []control.Rule
		kind  fault.Kind
		code  string
	}{
		"refused":             {[]control.Rule{refused}, fault.Provider, ""},
		"refused to a reader": {[]control.Rule{refused, reader}, fault.Forbidden, mirrors.CodeNotWritable},
		"not answered":        {[]control.Rule{{Match: "events.delete", Status: 503}}, fault.Unavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.create(dentist())
			for _, rule := range row.rules {
				w.must(w.google.Control().Plant(rule))
			}
			err := w.events().Delete(w.ctx, gm, made.ID, nil, cause)
			if !fault.Is(err, row.kind) || row.code != "" && fault.CodeOf(err) != row.code {
				t.Errorf("it says %v, kind %s, code %q", err, fault.KindOf(err), fault.CodeOf(err))
			}
			if w.atGoogle(made).EventState == rules.Gone {
				t.Error("it is deleted")
			}
		})
	}
}

// Another is faster: the event goes between its reading and its deletion.
func TestDelete_ByAnotherInBetween_NamesNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addTeam(google.Writer)
	made, err := w.events().Create(w.ctx, gm, "request", dentist(), byGM)
	w.must(err)
	events := w.events()
	events.Google = &meddling{EventGoogle: events.Google, afterGet: func() {
		_, err := w.full.DeleteQuietly(w.ctx, refTo(work), made.EventID, "")
		w.must(err)
	}}
	w.must(events.Delete(w.ctx, gm, made.ID, nil, byGM))
	if got := w.journal(gm, made.ID); len(got) != 2 || got[1] != "1>2 cancelled by " {
		t.Errorf("the journal says %q", got)
	}
}
