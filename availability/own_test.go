package availability_test

import (
	"errors"
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
)

// TestOwn_OfSyncedEvents_IsWhatTheyOccupy has the events of a week in which the clocks go
// forward, on the Sunday.
func TestOwn_OfSyncedEvents_IsWhatTheyOccupy(t *testing.T) {
	t.Parallel()
	from, to := at(t, zurich, "2026-03-26 00:00").Time, at(t, zurich, "2026-04-02 00:00").Time
	type stored struct {
		availability.BusyEvent
		change func(*mirror.Event)
	}
	series := timed(t, "2026-03-20 18:00", "2026-03-20 20:00", "RRULE:FREQ=WEEKLY")
	exception := func(start, end, original string, change func(*mirror.Event)) stored {
		e := timed(t, start, end)
		e.Original = at(t, zurich, original)
		return stored{e, func(m *mirror.Event) {
			m.SeriesID = "event1"
			if change != nil {
				change(m)
			}
		}}
	}
	for name, row := range map[string]struct {
		events        []stored
		busy, unknown string
	}{
		"nothing": {},
		"overlapping and touching ones are one": {
			events: []stored{
				{timed(t, "2026-03-27 10:00", "2026-03-27 12:00"), nil}, {timed(t, "2026-03-27 11:00", "2026-03-27 13:00"), nil},
				{timed(t, "2026-03-27 13:00", "2026-03-27 14:00"), nil},
			},
			busy: "03-27 10:00–03-27 14:00",
		},
		"all day, on the day that has 23 hours": {events: []stored{{allDay("2026-03-29", "2026-03-30"), nil}}, busy: "03-29 00:00–03-30 00:00"},
		"all day, on the range's first day":     {events: []stored{{allDay("2026-03-26", "2026-03-27"), nil}}, busy: "03-26 00:00–03-27 00:00"},
		"all day, before and after the range": {
			events: []stored{{allDay("2026-03-25", "2026-03-26"), nil}, {allDay("2026-04-02", "2026-04-03"), nil}},
		},
		"over the change of clocks": {
			events: []stored{{timed(t, "2026-03-29 01:00", "2026-03-29 04:00"), nil}}, busy: "03-29 01:00–03-29 04:00",
		},
		"a series keeps its wall time": {
			events: []stored{{timed(t, "2026-03-20 18:00", "2026-03-20 20:00", "RRULE:FREQ=DAILY;INTERVAL=4"), nil}},
			busy:   "03-28 18:00–03-28 20:00, 04-01 18:00–04-01 20:00",
		},
		"into and out of the range": {
			events: []stored{{timed(t, "2026-03-25 22:00", "2026-03-26 01:00"), nil}, {timed(t, "2026-04-01 23:00", "2026-04-02 02:00"), nil}},
			busy:   "03-26 00:00–03-26 01:00, 04-01 23:00–04-02 00:00",
		},
		"transparent": {
			events: []stored{{timed(t, "2026-03-27 10:00", "2026-03-27 12:00"), func(e *mirror.Event) { e.Transparency = "transparent" }}},
		},
		"declined": {
			events: []stored{{timed(t, "2026-03-27 10:00", "2026-03-27 12:00"), func(e *mirror.Event) { e.Declined = true }}},
		},
		"cancelled": {
			events: []stored{{timed(t, "2026-03-27 10:00", "2026-03-27 12:00"), func(e *mirror.Event) { e.Status = "cancelled" }}},
		},
		"tentative": {
			events: []stored{{timed(t, "2026-03-27 10:00", "2026-03-27 12:00"), func(e *mirror.Event) { e.Status = "tentative" }}},
			busy:   "03-27 10:00–03-27 12:00",
		},
		"in another calendar of the account": {
			events: []stored{{timed(t, "2026-03-27 10:00", "2026-03-27 12:00"), func(e *mirror.Event) { e.CalendarID = "club" }}},
		},
		"a working location": {
			events: []stored{
				{timed(t, "2026-03-27 10:00", "2026-03-27 12:00"), func(e *mirror.Event) { e.Kind = availability.KindWorkingLocation }},
			},
		},
		"a copy in it": {
			events: []stored{
				{
					timed(t, "2026-03-27 10:00", "2026-03-27 12:00"),
					func(e *mirror.Event) { e.OwnerID, e.Source = mirror.CopyOwner("gm"), mirror.SourceCopy },
				},
			},
			busy: "03-27 10:00–03-27 12:00",
		},
		"another person's": {
			events: []stored{{timed(t, "2026-03-27 10:00", "2026-03-27 12:00"), func(e *mirror.Event) { e.OwnerID = "ana" }}},
		},
		"an occurrence moved within the range": {
			events: []stored{{series, nil}, exception("2026-03-28 09:00", "2026-03-28 10:00", "2026-03-27 18:00", nil)},
			busy:   "03-28 09:00–03-28 10:00",
		},
		"an occurrence moved to weeks before": {
			events: []stored{{series, nil}, exception("2026-03-05 09:00", "2026-03-05 10:00", "2026-03-27 18:00", nil)},
		},
		"an occurrence moved to weeks after": {
			events: []stored{{series, nil}, exception("2026-05-05 09:00", "2026-05-05 10:00", "2026-03-27 18:00", nil)},
		},
		"an occurrence that was cancelled": {events: []stored{{series, nil},
			exception("2026-03-27 18:00", "2026-03-27 20:00", "2026-03-27 18:00", func(e *mirror.Event) {
				e.Status, e.Start, e.End, e.From, e.Until = "cancelled", recurrence.Moment{}, recurrence.Moment{}, time.Time{}, time.Time{}
			})}},
		"invited to one date of a series": {
			events: []stored{
				exception("2026-03-27 18:00", "2026-03-27 20:00", "2026-03-27 18:00", func(e *mirror.Event) { e.SeriesID = "elsewhere" }),
			},
			busy: "03-27 18:00–03-27 20:00",
		},
		"a series that cannot be expanded": {
			events: []stored{
				{timed(t, "2026-03-20 18:00", "2026-03-20 20:00", "RRULE:FREQ=SECONDLY"), nil},
				{timed(t, "2026-03-27 10:00", "2026-03-27 12:00"), nil},
			},
			busy:    "03-27 10:00–03-27 12:00",
			unknown: "03-26 00:00–04-02 00:00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			account := w.synced("gm", "gm")
			for _, e := range row.events {
				w.add("gm", "gm", e.BusyEvent, e.change)
			}
			got := w.own("gm", from, to)
			if busy, unknown := text(got.Busy, in(t, zurich)), text(got.Unknown, in(t, zurich)); busy != row.busy || unknown != row.unknown {
				t.Errorf("busy %q, unknown %q", busy, unknown)
			}
			reason := ""
			if len(got.Accounts) != 1 || got.Accounts[0].ID != account || got.Accounts[0].Source != availability.FromEvents ||
				!got.Accounts[0].AsOf.Equal(now.Add(-time.Hour)) {
				t.Fatalf("accounts are %+v", got.Accounts)
			}
			if unknown := got.Accounts[0].Unknown; unknown != nil {
				reason = unknown.Reason
			}
			if row.unknown != "" != (reason == availability.ReasonSeries) {
				t.Errorf("the reason is %q", reason)
			}
		})
	}
}

func TestOwn_WithoutTheCalendarsZone_AllDayIsUnknownNotFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("gm", "gm", accounts.Active)
	w.sync("gm", "gm", now, func(data map[string]any) { delete(data, "timeZone") })
	w.add("gm", "gm", allDay("2026-03-10", "2026-03-11"), nil)
	w.add("gm", "gm", timed(t, "2026-03-12 10:00", "2026-03-12 11:00"), nil)
	got := w.own("gm", now, now.AddDate(0, 0, 14))
	if busy, unknown := text(got.Busy, time.UTC),
		text(got.Unknown, time.UTC); busy != "03-12 09:00–03-12 10:00" || unknown != "03-09 10:00–03-11 12:00" {
		t.Errorf("busy %q, unknown %q", busy, unknown)
	}
	if reason := got.Accounts[0].Unknown; reason == nil || reason.Reason != availability.ReasonTimeZone {
		t.Errorf("the reason is %+v", reason)
	}
}

// TestOwn_EachAccount_HasItsSource: whatever is not known is unknown for the whole range.
func TestOwn_EachAccount_HasItsSource(t *testing.T) {
	t.Parallel()
	slot := gcal.Interval{Start: now.Add(time.Hour), End: now.Add(2 * time.Hour)}
	hour := "03-02 13:00–03-02 14:00"
	all := "03-02 12:00–03-03 12:00"
	fails := func(err error) func(*world) {
		return func(w *world) {
			w.google.answers["acc_gm"] = func() (gcal.FreeBusy, error) { return gcal.FreeBusy{}, err }
		}
	}
	synced := func(at time.Time, change func(map[string]any)) func(*world) {
		return func(w *world) {
			w.sync("gm", "gm", at, change)
			w.google.busy("acc_gm", slot)
		}
	}
	for name, row := range map[string]struct {
		status        accounts.Status
		before        func(*world)
		source        availability.Source
		asOf          time.Time
		busy, unknown string
		reason        string
	}{
		"not synced": {
			before: func(w *world) { w.google.busy("acc_gm", slot) }, source: availability.FromFreeBusy, asOf: now, busy: hour,
		},
		"synced": {
			before: synced(now.Add(-6*time.Hour), nil), source: availability.FromEvents, asOf: now.Add(-6 * time.Hour),
		},
		"synced with guests": {
			before: synced(now, func(d map[string]any) { d["maskVersion"] = gcal.WithGuests.Version() }),
			source: availability.FromEvents, asOf: now,
		},
		"only observed": {
			before: synced(now, func(d map[string]any) { d["maskVersion"] = -gcal.WithGuests.Version() }),
			source: availability.FromFreeBusy, asOf: now, busy: hour,
		},
		"synced too long ago": {before: synced(now.Add(-7*time.Hour), nil), source: availability.FromFreeBusy, asOf: now, busy: hour},
		"synced for polls alone": {
			before: synced(now, func(d map[string]any) { d["interests"] = map[string]any{"poll": 1} }),
			source: availability.FromFreeBusy, asOf: now, busy: hour,
		},
		"synced with few fields so far": {
			before: synced(now, func(d map[string]any) { d["maskVersion"] = gcal.Times.Version() }),
			source: availability.FromFreeBusy, asOf: now, busy: hour,
		},
		"synced but for an event": {
			before: synced(now, func(d map[string]any) { d["deferred"] = map[string]any{mirror.Consumer: map[string]any{"e1": now}} }),
			source: availability.FromFreeBusy, asOf: now, busy: hour,
		},
		"synced but for a full listing": {
			before: synced(now, func(d map[string]any) { d["relist"] = map[string]any{mirror.Consumer: now} }),
			source: availability.FromFreeBusy, asOf: now, busy: hour,
		},
		"a full listing pending, no answer": {before: func(w *world) {
			synced(now, func(d map[string]any) { d["relist"] = map[string]any{mirror.Consumer: now} })(w)
			fails(errors.New("no route to host"))(w)
		}, source: availability.FromNothing, unknown: all, reason: availability.ReasonFailing},
		"never synced yet": {
			before: synced(now, func(d map[string]any) { delete(d, "lastSuccessAt") }), source: availability.FromFreeBusy,
			asOf: now, busy: hour,
		},
		"revoked here": {
			status: accounts.Revoked, before: synced(now, nil), source: availability.FromNothing, unknown: all,
			reason: availability.ReasonRevoked,
		},
		"revoked at Google": {
			before: fails(&fault.Error{Kind: fault.Revoked}), source: availability.FromNothing, unknown: all,
			reason: availability.ReasonRevoked,
		},
		"without the scope": {
			before: fails(&fault.Error{Kind: fault.Forbidden, Code: gcal.CodeScopeMissing}), source: availability.FromNothing,
			unknown: all, reason: availability.ReasonScopeMissing,
		},
		"Google does not answer": {
			before: fails(errors.New("no route to host")), source: availability.FromNothing, unknown: all,
			reason: availability.ReasonFailing,
		},
		"Google answers for no such calendar": {source: availability.FromNothing, unknown: all,
			reason: availability.ReasonFailing, before: func(w *world) {
				w.google.answers["acc_gm"] = func() (gcal.FreeBusy, error) {
					return gcal.FreeBusy{Busy: []gcal.Interval{slot}, Err: fault.New(fault.NotFound, "")}, nil
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if row.status == "" {
				row.status = accounts.Active
			}
			w.link("gm", "gm", row.status)
			row.before(w)
			got := w.own("gm", now, now.AddDate(0, 0, 1))
			if busy, unknown := text(got.Busy, time.UTC), text(got.Unknown, time.UTC); busy != row.busy || unknown != row.unknown {
				t.Errorf("busy %q, unknown %q", busy, unknown)
			}
			account := got.Accounts[0]
			reason := ""
			if account.Unknown != nil {
				reason = account.Unknown.Reason
				if account.Unknown.Message == "" {
					t.Error("it does not say what to do")
				}
			}
			if account.Source != row.source || !account.AsOf.Equal(row.asOf) || reason != row.reason {
				t.Errorf("the account is %+v, reason %q", account, reason)
			}
		})
	}
}

func TestOwn_WithoutTheScope_UsesEventsAndNeverAsksGoogle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"home", "work"} {
		w.set(accounts.Path("acc_"+id), map[string]any{
			"ownerId": "gm", "email": id + "@x", "status": "active", "createdAt": now, "scopes": []any{accounts.ScopeEvents},
		})
	}
	w.sync("gm", "work", now, nil)
	got := w.own("gm", now, now.Add(time.Hour))
	home, work := got.Accounts[0], got.Accounts[1]
	if home.Unknown == nil || home.Unknown.Reason != availability.ReasonScopeMissing ||
		work.Source != availability.FromEvents || work.Unknown != nil || len(got.Unknown) != 1 {
		t.Errorf("got %+v", got)
	}
	if len(w.google.asked) != 0 {
		t.Errorf("Google was asked %q", w.google.asked)
	}
}

func TestOwn_OneOfTwoAccountsFails_TheOtherStillCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("gm", "home", accounts.Active)
	w.link("gm", "work", accounts.Active)
	w.link("gm", "gone", accounts.Unlinked)
	w.link("ana", "ana", accounts.Active)
	w.google.busy("acc_home", gcal.Interval{Start: now.Add(time.Hour), End: now.Add(2 * time.Hour)})
	w.google.busy("acc_ana", gcal.Interval{Start: now, End: now.Add(24 * time.Hour)})
	w.google.answers["acc_work"] = func() (gcal.FreeBusy, error) { return gcal.FreeBusy{}, errors.New("down") }
	got := w.own("gm", now, now.Add(24*time.Hour))
	if text(got.Busy, time.UTC) != "03-02 13:00–03-02 14:00" || text(got.Unknown, time.UTC) != "03-02 12:00–03-03 12:00" ||
		len(got.Accounts) != 2 {
		t.Errorf("got %+v", got)
	}
	if got := w.own("gm", now, now.Add(24*time.Hour), "acc_home"); len(got.Unknown) != 0 || len(got.Accounts) != 1 || len(got.Busy) != 1 {
		t.Errorf("of the account that is named, got %+v", got)
	}
	if got := w.own("ben", now, now.Add(time.Hour)); len(got.Busy)+len(got.Unknown)+len(got.Accounts) != 0 {
		t.Errorf("without accounts, got %+v", got)
	}
}

func TestOwn_OverAYear_AsksGoogleInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("gm", "gm", accounts.Active)
	w.own("gm", now, now.Add(availability.MaxRange))
	if len(w.google.asked) != 7 || w.google.asked[0] != "acc_gm 1440h0m0s" || w.google.asked[6] != "acc_gm 144h0m0s" {
		t.Errorf("Google was asked %q", w.google.asked)
	}
}

func TestOwn_BadInput_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("gm", "gm", accounts.Active)
	w.link("ana", "ana", accounts.Active)
	for name, row := range map[string]struct {
		from, to time.Time
		ids      []string
		want     fault.Kind
	}{
		"end before start":         {now, now.Add(-time.Hour), nil, fault.Invalid},
		"an empty range":           {now, now, nil, fault.Invalid},
		"over 366 days":            {now, now.Add(availability.MaxRange + time.Second), nil, fault.Invalid},
		"an unknown account":       {now, now.Add(time.Hour), []string{"acc_none"}, fault.NotFound},
		"another person's account": {now, now.Add(time.Hour), []string{"acc_gm", "acc_ana"}, fault.NotFound},
	} {
		if _, err := w.Own(t.Context(), "gm", row.from, row.to, row.ids); !fault.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(w.google.asked) != 0 {
		t.Errorf("Google was asked %q", w.google.asked)
	}
}

// TestOwn_GroupEvents_BlockTheConnectedAccountsAlone: a member's copy is a mirror, which is
// no event of theirs.
func TestOwn_GroupEvents_BlockTheConnectedAccountsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.synced("gm", "gm")
	w.synced("ana", "ana")
	w.add("gm", "gm", timed(t, "2026-03-10 18:00", "2026-03-10 20:00"), func(e *mirror.Event) {
		e.Source, e.GroupID, e.AccountID, e.CalendarID, e.EventID, e.Declined = mirror.SourceGroup, "grp", "", "", "", true
	})
	w.set(mirror.ConnectionPath("grp", "acc_ana"),
		mirror.EncodeConnection(mirror.Connection{GroupID: "grp", AccountID: "acc_ana", OwnerID: "ana", CreatedAt: now}))
	if got := w.own("ana", now, now.AddDate(0, 0, 14)); text(got.Busy, time.UTC) != "03-10 17:00–03-10 19:00" {
		t.Errorf("the member is busy at %q", text(got.Busy, time.UTC))
	}
	if got := w.own("gm", now, now.AddDate(0, 0, 14)); len(got.Busy) != 0 {
		t.Errorf("the author, who is not connected, is busy at %q", text(got.Busy, time.UTC))
	}
}
