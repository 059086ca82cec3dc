package health_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/operations/health"
	"questscheduler/web-hooks/timers"
)

// counting counts the documents that are read.
type counting struct {
	store.Store
	reads int
}

func (c *counting) Get(ctx context.Context, path store.Path) (store.Document, error) {
	c.reads++
	return c.Store.Get(ctx, path)
}

func (c *counting) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	c.reads += len(paths)
	return c.Store.GetAll(ctx, paths)
}

func (c *counting) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	docs, err := c.Store.Query(ctx, query)
	c.reads += max(len(docs), 1)
	return docs, err
}

// reading is a store with what a test writes, and a reader of it.
type reading struct {
	t     *testing.T
	store *counting
	// failing is work that keeps failing.
	failing []outbox.FailingEntry
	reader  *health.Reader
}

func newReading(t *testing.T) *reading {
	t.Helper()
	documents, err := memorystore.Open(slices.Concat(poll.Queries, calendars.Queries, calendarsync.Queries, accounts.Queries,
		mirror.Queries, attendees.Queries))
	if err != nil {
		t.Fatal(err)
	}
	w := &reading{t: t, store: &counting{Store: documents}}
	clock := func() time.Time { return now }
	w.reader = &health.Reader{
		Store: w.store, Now: clock, Recent: 7 * time.Hour, Address: "https://quests.example/push", Sync: "on", Work: w,
		Jobs: []timers.Job{{Name: "minutely", Every: time.Minute}, {Name: "cleanup", Every: 24 * time.Hour}},
	}
	return w
}

// Depths implements health.Work.
func (w *reading) Depths(context.Context) ([]outbox.Depth, error) {
	return []outbox.Depth{{Kind: "intent", Failing: w.failing}}, nil
}

func (w *reading) write(path string, data map[string]any) {
	w.t.Helper()
	err := w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(store.Path(path), data) })
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *reading) overview() health.Overview {
	w.t.Helper()
	view, err := w.reader.Overview(w.t.Context(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return view
}

// follow writes an account of a person, with a calendar that polls follow and
// its channel.
func (w *reading) follow(who string, status calendarsync.Status, failingSince time.Time) (key string) {
	w.t.Helper()
	email := who + "@example.com"
	key = poll.CalendarKey("acc_"+who, email)
	w.write("accounts/acc_"+who, map[string]any{"ownerId": who, "email": email, "provider": "google", "status": "active", "createdAt": now})
	calendar := map[string]any{
		"accountId": "acc_" + who, "calendarId": email, "ownerId": who, "interests": map[string]any{poll.ConsumerPoll: 1},
		"lastSyncedAt": now, "lastSuccessAt": now,
	}
	if !failingSince.IsZero() {
		calendar["failedSince"], calendar["lastError"] = failingSince, "unavailable"
	}
	w.write("calendars/"+key, calendar)
	channel := map[string]any{
		"calendarId": email, "userId": who, "status": string(status), "expiration": now.AddDate(0, 0, 5), "createdAt": now,
	}
	if status == calendarsync.Failed {
		channel["nextTry"] = now.Add(time.Minute)
	}
	w.channel(key, "of-"+who, channel)
	return key
}

// channel writes a watch channel of a calendar.
func (w *reading) channel(key, id string, fields map[string]any) {
	w.t.Helper()
	fields["calendarKey"], fields["address"] = key, "https://quests.example/push"
	w.write("calendarWatches/"+id, fields)
}

// How bad it is with a channel is how bad that is for its calendar.
func TestOverview_EndedChannel_IsBadOnlyWithoutAnother(t *testing.T) {
	t.Parallel()
	refused := map[string]any{"status": "error", "reason": "unavailable", "expiration": now.AddDate(0, 0, 6), "nextTry": now.Add(time.Minute)}
	for _, row := range []struct {
		name   string
		beside calendarsync.Status // of the other channel, which ends in five days
		reason string              // why the sync fails
		fields map[string]any
		level  health.Level
		shown  bool
	}{
		{"refused, and nothing else lives", calendarsync.Retiring, "", refused, health.Bad, true},
		{"refused, and another lives", calendarsync.Active, "", refused, health.Fine, true},
		{"refused, and the grant is too", calendarsync.Retiring, "revoked", refused, health.Fine, true},
		{
			"refused without an answer, and superseded", calendarsync.Active, "",
			map[string]any{"status": "error", "reason": "unavailable", "expiration": now.AddDate(0, 0, 6), "nextTry": nil}, "",
			false,
		},
		{
			"ended, and nothing else lives", calendarsync.Retiring, "",
			map[string]any{"status": "active", "expiration": now.Add(-time.Hour)}, health.Bad, true,
		},
		{
			"ended while it was stopped, and another lives", calendarsync.Active, "",
			map[string]any{"status": "retiring", "expiration": now.Add(-time.Hour)}, health.Fine, true,
		},
		{
			"ends soon, and another lives", calendarsync.Active, "",
			map[string]any{"status": "active", "expiration": now.Add(time.Hour)}, health.Fine, true,
		},
		{"ends soon, alone", calendarsync.Retiring, "", map[string]any{"status": "active", "expiration": now.Add(time.Hour)}, health.Mind, true},
		{
			"without an answer, and another lives", calendarsync.Active, "",
			map[string]any{"status": "pending", "expiration": now.AddDate(0, 0, 6), "createdAt": now.Add(-time.Hour)}, health.Fine,
			true,
		},
	} {
		w := newReading(t)
		key := w.follow("gm", row.beside, time.Time{})
		if row.reason != "" {
			w.fails(key, now.Add(-time.Hour), row.reason)
		}
		w.channel(key, "it", maps.Clone(row.fields))
		view := w.overview()
		i := slices.IndexFunc(view.Channels, func(watch health.Channel) bool { return watch.ChannelID == "it" })
		if shown := i >= 0; shown != row.shown || shown && view.Channels[i].Level != row.level {
			t.Errorf("%s: the channels are %+v", row.name, view.Channels)
		}
		if concerned := slices.ContainsFunc(
			view.Concerns, func(c health.Concern) bool { return c.Part == "watches" },
		); concerned != (row.shown && row.level != health.Fine) {
			t.Errorf("%s: the concerns are %+v", row.name, view.Concerns)
		}
	}
}

func TestOverview_WhereAllIsWell_SaysSo(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	w.follow("gm", calendarsync.Active, time.Time{})
	view := w.overview()
	if len(view.Concerns) != 0 || len(view.Channels) != 1 || view.Channels[0].Level != health.Fine ||
		len(view.Accounts) != 1 || view.Accounts[0].Status != "healthy" {
		t.Errorf("got %+v", view)
	}
}

func TestOverview_ShowsFirstWhatNeedsAPerson(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	for i := range 40 { // all well, and linked before
		w.follow(fmt.Sprintf("p%02d", i), calendarsync.Active, time.Time{})
	}
	w.channel(w.follow("late", calendarsync.Retiring, time.Time{}), "of-late", map[string]any{
		"status": "active", "expiration": now.Add(time.Hour), "createdAt": now,
	})
	w.channel(w.follow("over", calendarsync.Retiring, time.Time{}), "of-over", map[string]any{
		"status": "active", "expiration": now.Add(-time.Hour), "createdAt": now,
	})
	w.write("accounts/acc_zz", map[string]any{
		"ownerId": "zz", "email": "zz@example.com", "provider": "google", "status": "active", "createdAt": now.Add(time.Hour),
	})
	w.follow("zz", calendarsync.Failed, now.Add(-30*time.Hour))
	view := w.overview()
	var states []string
	for _, watch := range view.Channels[:3] {
		states = append(states, watch.State)
	}
	if !slices.Equal(states, []string{"ended", "error", "ends soon"}) {
		t.Errorf("the first channels are %v", states)
	}
	if view.Accounts[0].OwnerID != "zz" || view.Accounts[0].Status != "unhealthy" || view.Next == nil {
		t.Errorf("the first account is %+v", view.Accounts[0])
	}
	if len(view.Concerns) == 0 || view.Concerns[0].Part != "watches" || view.Concerns[0].Level != health.Bad {
		t.Errorf("the concerns are %+v", view.Concerns)
	}
}

// fails writes on a followed calendar since when its sync fails, and why.
func (w *reading) fails(key string, since time.Time, reason string) {
	w.t.Helper()
	err := w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(calendars.Path(key), poll.Set("failedSince", since), poll.Set("lastError", reason))
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestOverview_ManyRefusedGrants_StillShowsFreshFailures(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	for i := range 40 {
		w.fails(w.follow(fmt.Sprintf("p%02d", i), calendarsync.Active, time.Time{}), now.AddDate(0, 0, -30), "revoked")
	}
	for who, since := range map[string]time.Time{"zfresh": now.Add(-time.Hour), "zlong": now.AddDate(0, 0, -40)} {
		w.fails(w.follow(who, calendarsync.Active, time.Time{}), since, "not found")
	}
	first := w.overview()
	for _, who := range []string{"zfresh", "zlong"} {
		if !slices.ContainsFunc(first.Accounts, func(a health.Account) bool { return a.OwnerID == who }) {
			t.Errorf("the account of %s, which fails, is not shown", who)
		}
	}
	further, err := w.reader.Overview(t.Context(), first.Next)
	if err != nil {
		t.Fatal(err)
	}
	for page, view := range map[string]health.Overview{"first": first, "second": further} {
		concern := slices.IndexFunc(view.Concerns, func(c health.Concern) bool { return c.Part == "accounts" && c.Level == health.Bad })
		if concern < 0 || !strings.Contains(view.Concerns[concern].Text, " or more ") || !view.MoreFailing {
			t.Errorf("the concerns of the %s page are %+v", page, view.Concerns)
		}
	}
}

func TestOverview_FailingDelegatedAccounts_AreShownEach(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	for i := range 40 { // all well, and linked before
		w.follow(fmt.Sprintf("p%02d", i), calendarsync.Active, time.Time{})
	}
	for _, who := range []string{"xx", "yy", "zz"} {
		w.fails(w.follow(who, calendarsync.Active, time.Time{}), now.Add(-time.Hour), "not found")
		w.disown(who)
	}
	view := w.overview()
	for _, who := range []string{"xx", "yy", "zz"} {
		shown := slices.IndexFunc(view.Accounts, func(a health.Account) bool { return a.ID == "acc_"+who })
		if shown < 0 || len(view.Accounts[shown].Calendars) != 1 || view.Accounts[shown].Status == health.Healthy {
			t.Errorf("the account of %s, which fails, is not shown", who)
		}
	}
	if report, err := w.reader.OfPerson(t.Context(), ""); len(report.Accounts) != 0 || err != nil {
		t.Errorf("nobody has %+v, %v", report.Accounts, err)
	}
}

// disown makes a followed account one of a service account, which has no owner.
func (w *reading) disown(who string) {
	w.t.Helper()
	err := w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		if err := tx.Update(accounts.Path("acc_"+who), poll.Set("ownerId", ""), poll.Set("kind", accounts.KindServiceAccount)); err != nil {
			return err
		}
		return tx.Update(calendars.Path(poll.CalendarKey("acc_"+who, who+"@example.com")), poll.Set("ownerId", ""))
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestOverview_OfAFurtherPage_SaysWhatIsWrongOnTheOthers(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	w.fails(w.follow("aa", calendarsync.Active, time.Time{}), now.Add(-48*time.Hour), "forbidden")
	for i := range 40 {
		w.follow(fmt.Sprintf("p%02d", i), calendarsync.Active, time.Time{})
	}
	view, err := w.reader.Overview(t.Context(), w.overview().Next)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(view.Accounts, func(a health.Account) bool { return a.OwnerID == "aa" }) {
		t.Error("the page shows the accounts of the first again")
	}
	if len(view.Concerns) != 1 || view.Concerns[0].Text != "1 account is not in sync" {
		t.Errorf("the concerns are %+v", view.Concerns)
	}
}

func TestOverview_ReadsNoMoreThanItMay_HoweverMuchThereIs(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	for i := range 120 {
		who := fmt.Sprintf("p%03d", i)
		key := w.follow(who, calendarsync.Failed, now.Add(-time.Hour))
		if i%2 == 1 {
			w.fails(key, now.Add(-time.Hour), "revoked")
		}
		event := fmt.Sprintf("event%d", i)
		w.write("schedulers/poll-"+who, map[string]any{
			"title": who, "creatorId": who, "status": "FINALIZED", "googleEventId": event,
			"calendarSync": map[string]any{"state": "ERROR", "error": map[string]any{"code": "mass_cancellation_held", "at": now}},
		})
		w.write("calendarEventIndex/"+event, map[string]any{
			"schedulerId": "poll-" + who, "accountId": "acc_" + who, "calendarId": who + "@example.com",
		})
		err := w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Update(calendars.Path(key), calendars.Defer(event, calendars.DeferredHeld, now))
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			w.write(fmt.Sprintf("schedulers/poll-%s/journal/%d-%d", who, i, w.store.reads), map[string]any{"at": now})
		}
		w.failing = append(w.failing, outbox.FailingEntry{ID: "intent:" + who, Kind: "intent", FailedSince: now})
	}
	w.store.reads = 0
	view := w.overview()
	if w.store.reads > 450 {
		t.Errorf("a page reads %d documents, more than the 450 that the package promises", w.store.reads)
	}
	if !view.MoreChannels || !view.MoreFailingWork || !view.MoreHeld || view.Next == nil {
		t.Error("the page does not say that there is more")
	}
	t.Logf("a full page reads %d documents", w.store.reads)
}

func TestOverview_HoldsNothingThatWasConfirmed(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	key := w.follow("gm", calendarsync.Active, time.Time{})
	for _, event := range []string{"held", "confirmed"} {
		w.write("schedulers/"+event, map[string]any{
			"title": "Session " + event, "creatorId": "gm", "status": "FINALIZED", "googleEventId": event,
			"calendarSync": map[string]any{"state": "ERROR", "error": map[string]any{"code": "mass_cancellation_held", "at": now}},
		})
		w.write("calendarEventIndex/"+event, map[string]any{"schedulerId": event, "accountId": "acc_gm", "calendarId": "gm@example.com"})
	}
	err := w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(calendars.Path(key), calendars.Defer("held", calendars.DeferredHeld, now),
			calendars.Defer("confirmed", calendars.DeferredConfirmed, now))
	})
	if err != nil {
		t.Fatal(err)
	}
	view := w.overview()
	if len(view.Held) != 1 || view.Held[0].Key != key || len(view.Held[0].Polls) != 1 || view.Held[0].Polls[0].ID != "held" {
		t.Errorf("held are %+v", view.Held)
	}
}

func TestOverview_Timers_SayHowTheirRunsStand(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		record map[string]any
		state  string
		level  health.Level
	}{
		{"none", nil, "never ran", health.Mind},
		{"done", map[string]any{"startedAt": now, "endedAt": now, "succeededAt": now}, "done", health.Fine},
		{"on its way", map[string]any{"startedAt": now}, "running", health.Fine},
		{"failed", map[string]any{"startedAt": now, "failure": "unavailable", "failedAt": now}, "failed: unavailable", health.Bad},
		{"late", map[string]any{"startedAt": now.Add(-50 * time.Hour), "endedAt": now.Add(-50 * time.Hour)}, "late", health.Bad},
	} {
		w := newReading(t)
		if row.record != nil {
			w.write("timers/cleanup", row.record)
		}
		if got := w.overview().Jobs[1]; got.State != row.state || got.Level != row.level {
			t.Errorf("%s: it is %s, %s", row.name, got.State, got.Level)
		}
	}
}

// A channel that was granted for a day is late in its last hours alone, and one
// that lives says nothing of the next.
func TestOverview_ShortGrant_IsLateByItsLifetime(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name          string
		granted, ends time.Duration // from now
		level         health.Level
		state, why    string
		next          bool
	}{
		{"it was just granted", 0, 24 * time.Hour, health.Fine, "active", "", false},
		{"its renewal starts now", -16 * time.Hour, 8 * time.Hour, health.Fine, "active", "", false},
		{
			"half of the time for that is over", -20*time.Hour - time.Minute, 4*time.Hour - time.Minute, health.Mind, "ends soon",
			"Its renewal is overdue; see the timer drain.", false,
		},
		{"it ended", -25 * time.Hour, -time.Hour, health.Bad, "ended", "It was not renewed in time.", true},
		{
			"it was granted for minutes", -6 * time.Minute, -time.Minute, health.Bad, "ended",
			"Google granted it for 5m0s; the sweep reads the calendar until the next.", true,
		},
	} {
		w := newReading(t)
		key := w.follow("gm", calendarsync.Retiring, time.Time{})
		w.channel(key, "it", map[string]any{
			"status": "active", "grantedAt": now.Add(row.granted), "expiration": now.Add(row.ends),
			"nextTry": now.Add(row.granted).Add(15 * time.Minute),
		})
		for _, watch := range w.overview().Channels {
			if watch.ChannelID != "it" {
				continue
			}
			if watch.Level != row.level || watch.State != row.state || watch.Why != row.why || watch.NextTry.IsZero() == row.next {
				t.Errorf("%s: it is shown as %+v", row.name, watch)
			}
		}
	}
}
