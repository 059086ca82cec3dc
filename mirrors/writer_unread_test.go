package mirrors_test

import (
	"errors"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/mirrors"
)

// Whichever read or write fails, a step of the writer says so, so that it is taken again.
func TestWriter_DocumentUnreadOrUnwritten_SaysThatItFailed(t *testing.T) {
	t.Parallel()
	second := at("2026-03-12T09:00:00Z")
	late := func(s *stage) {
		s.event("e1_x", "Late", exception("e1", second), func(e *mirror.Event) {
			e.Start, e.End = at("2026-03-12T14:00:00Z"), at("2026-03-12T15:00:00Z")
		})
	}
	shown := func(s *stage) { s.event("e1", "Stand-up"); s.run(2 * time.Minute) }
	shownWeekly := func(s *stage) { s.event("e1", "Weekly", weekly); s.run(2 * time.Minute) }
	overlay := func(s *stage) {
		s.toOverlay()
		s.event("e1", "Stand-up")
		s.event("e2", "Review")
		s.run(2 * time.Minute)
	}
	unwanted := func(s *stage) { s.edges = nil; s.plan("e1@google.com") }
	write := func(s *stage) error {
		var failed []error
		for _, m := range s.mirrors() {
			_, err := s.writer.Outbox.Run(s.ctx, mirrors.WriteKind, m.ID)
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	}
	leave := func(s *stage) error { return s.leave(home, time.Hour) }
	leaving := func(s *stage) error {
		s.account(home, accounts.Unlinked)
		account, err := accounts.Load(s.ctx, s.memory, home)
		s.must(err)
		return s.writer.AccountLeaving(s.ctx, account, cause)
	}
	reconcile := func(s *stage) error {
		did, _, err := s.writer.Reconcile(s.ctx, cause, "", true)
		if err == nil && did.Failed > 0 {
			err = fault.New(fault.Unavailable, "it is left to the next day")
		}
		return err
	}
	back := func(s *stage) error {
		s.account(home, accounts.Active)
		account, err := accounts.Load(s.ctx, s.memory, home)
		s.must(err)
		return s.writer.AccountBack(s.ctx, account, cause)
	}
	for name, row := range map[string]struct {
		begin func(s *stage)
		call  func(s *stage) error
	}{
		"create": {func(s *stage) { s.event("e1", "Stand-up") }, write},
		"create what a lost answer made": {func(s *stage) {
			s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", LostAnswer: true, Times: 1}))
			s.event("e1", "Stand-up")
			s.must(write(s))
			s.must(s.clock.Advance(time.Hour))
		}, write},
		"change":                              {func(s *stage) { shown(s); s.event("e1", "Retrospective") }, write},
		"change what a person deleted":        {func(s *stage) { shown(s); s.delete(s.atHome()); s.event("e1", "Retrospective") }, write},
		"change, refused":                     {func(s *stage) { shown(s); s.refuse("events.patch"); s.event("e1", "Retrospective") }, write},
		"delete":                              {func(s *stage) { shown(s); unwanted(s) }, write},
		"delete what was never made":          {func(s *stage) { s.event("e1", "Stand-up"); unwanted(s) }, write},
		"wait for the account":                {func(s *stage) { s.event("e1", "Stand-up"); s.account(home, accounts.Revoked) }, write},
		"wait for the series":                 {late, write},
		"create a series and wake":            {func(s *stage) { s.event("e1", "Weekly", weekly); late(s) }, write},
		"find a moved occurrence":             {func(s *stage) { shownWeekly(s); late(s) }, write},
		"cancel an occurrence":                {func(s *stage) { shownWeekly(s); s.cancelled() }, write},
		"create an overlay calendar":          {func(s *stage) { s.toOverlay(); s.event("e1", "Stand-up") }, write},
		"create an overlay calendar, refused": {func(s *stage) { s.toOverlay(); s.refuse("calendars.insert"); s.event("e1", "Stand-up") }, write},
		"write to a deleted overlay calendar": {func(s *stage) { overlay(s); s.deleteCalendar(s.overlays()[0].ID); s.event("e1", "Retrospective") }, write},
		"leave":                               {shown, leave},
		"leave, and be followed no more":      {func(s *stage) { shown(s); s.followed(homeMail) }, leaving},
		"leave, refused":                      {func(s *stage) { shown(s); s.refuse("events.delete") }, leave},
		"come back": {func(s *stage) {
			shown(s)
			s.account(home, accounts.Revoked)
			s.event("e1", "Retrospective")
			s.must(write(s))
		}, back},
		"reconcile a change and strays": {func(s *stage) {
			shown(s)
			s.followed(homeMail)
			s.stray(1, "here")
			s.change(s.shown(home, homeMail)[0], "Mine")
		}, reconcile},
		"reconcile a lost overlay calendar": {func(s *stage) {
			overlay(s)
			s.deleteCalendar(s.overlays()[0].ID)
		}, reconcile},
	} {
		for what, documents := range map[string]func(documents store.Store, p *points.Points) store.Store{
			"read": func(documents store.Store, p *points.Points) store.Store {
				return &points.Reads{Store: documents, Points: p}
			},
			"write": func(documents store.Store, p *points.Points) store.Store {
				return &points.Writes{Store: documents, Points: p}
			},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				for n := 1; ; n++ {
					s := newStage(t)
					row.begin(s)
					p := &points.Points{}
					s.writer.Store = documents(s.memory, p)
					p.FailAt(n)
					err := row.call(s)
					if !p.Reached() {
						points.Struck(t, n-1, 1)
						s.must(err)
						return
					}
					if !fault.Is(err, fault.Unavailable) {
						t.Errorf("%s %d failed, and the call gave %v\n%s", what, n, err, s.log.String())
					}
				}
			})
		}
	}
}

// refuse has Google refuse calls.
func (s *stage) refuse(method string) {
	s.Helper()
	s.must(s.google.Control().Plant(control.Rule{Match: method, Status: 400, Reason: "invalid"}))
}

// cancelled has the second occurrence of the weekly series be cancelled.
func (s *stage) cancelled() {
	s.event("e1_x", "Weekly", exception("e1", at("2026-03-12T09:00:00Z")), func(e *mirror.Event) { e.Status = "cancelled" })
}
