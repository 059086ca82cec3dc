package health_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/operations/health"
)

var (
	now   = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	terms = health.Terms{Now: now, Recent: 7 * time.Hour, Address: "https://quests.example/push"}
)

// well are the facts of a calendar that nothing is wrong with.
func well() health.Facts {
	return health.Facts{
		Account: accounts.Active,
		Calendar: calendars.Calendar{
			Key: "k", LinkedAt: now.AddDate(0, 0, -2), SyncedAt: now.Add(-time.Minute), SuccessAt: now.Add(-time.Minute),
		},
		Channels: []calendarsync.Watch{{Status: calendarsync.Active, Address: terms.Address, Expiration: now.Add(time.Hour)}},
	}
}

func ago(d time.Duration) time.Time { return now.Add(-d) }

func TestOf_EachTrouble_GivesItsStatus(t *testing.T) {
	t.Parallel()
	fails := func(since time.Duration, kind fault.Kind) func(*health.Facts) {
		return func(f *health.Facts) { f.Calendar.FailedSince, f.Calendar.LastError = ago(since), kind.String() }
	}
	channel := func(change func(*calendarsync.Watch)) func(*health.Facts) {
		return func(f *health.Facts) { change(&f.Channels[0]) }
	}
	pending := func(why string, since time.Time) func(*health.Facts) {
		return func(f *health.Facts) {
			deferred := map[string]calendars.Deferral{"e": {At: since, Why: why}}
			f.Calendar.Backlogs = map[string]calendars.Backlog{poll.ConsumerPoll: {Deferred: deferred}}
		}
	}
	for _, row := range []struct {
		name    string
		but     func(*health.Facts)
		want    health.Status
		wrong   string // the codes, worst first
		channel health.ChannelStatus
	}{
		{"nothing is wrong", func(*health.Facts) {}, health.Healthy, "", health.ChannelActive},
		{
			"a success just recent enough", func(f *health.Facts) { f.Calendar.SuccessAt = ago(7 * time.Hour) }, health.Healthy, "",
			health.ChannelActive,
		},
		{
			"a success of before", func(f *health.Facts) { f.Calendar.SuccessAt = ago(7*time.Hour + 1) }, health.Stale, "look_late",
			health.ChannelActive,
		},
		{
			"a success of yesterday", func(f *health.Facts) { f.Calendar.SuccessAt = ago(24*time.Hour + 1) }, health.Unhealthy,
			"look_late", health.ChannelActive,
		},
		{"the sync fails since a moment", fails(0, fault.Unavailable), health.Degraded, "look_failed", health.ChannelActive},
		{"since almost six hours", fails(6*time.Hour-1, fault.Unavailable), health.Degraded, "look_failed", health.ChannelActive},
		{"since six hours", fails(6*time.Hour, fault.RateLimited), health.Stale, "look_failed", health.ChannelActive},
		{"since a day", fails(24*time.Hour, fault.Exhausted), health.Stale, "look_failed", health.ChannelActive},
		{"since longer", fails(24*time.Hour+1, fault.NotFound), health.Unhealthy, "look_failed", health.ChannelActive},
		{"linked and not read yet", func(f *health.Facts) {
			f.Calendar.SuccessAt, f.Calendar.LinkedAt = time.Time{}, ago(time.Minute)
		}, health.Degraded, "never_looked", health.ChannelActive},
		{
			"linked days ago and never read", func(f *health.Facts) { f.Calendar.SuccessAt = time.Time{} }, health.Unhealthy,
			"never_looked", health.ChannelActive,
		},
		{"the grant is revoked", func(f *health.Facts) { f.Account = accounts.Revoked }, health.Error, "token_expired", health.ChannelActive},
		{"Google refused the last sync", fails(time.Minute, fault.Revoked), health.Error, "token_expired", health.ChannelActive},
		{
			"the account is unlinked", func(f *health.Facts) { f.Account, f.Channels = accounts.Unlinked, nil }, health.Error,
			"calendar_unlinked", health.ChannelNone,
		},
		{"the account is gone", func(f *health.Facts) { f.Account = "" }, health.Error, "calendar_unlinked", health.ChannelActive},
		{"the calendar is lost", func(f *health.Facts) {
			f.Calendar.FailedSince, f.Calendar.RefusedSince, f.Calendar.LastError, f.Channels = ago(time.Hour), ago(time.Minute),
				calendars.ReasonLost, nil
		}, health.Error, "calendar_lost", health.ChannelNone},
		{"many events are gone for mirrors", func(f *health.Facts) {
			f.HeldSince, f.Calendar.Interests = ago(time.Hour), map[string]int64{"mirrors": 1}
			f.Calendar.Backlogs = map[string]calendars.Backlog{"mirrors": {Relist: ago(time.Hour)}}
		}, health.Degraded, "mass_deletion_held", health.ChannelActive},
		{"no channel", func(f *health.Facts) { f.Channels = nil }, health.Degraded, "watch_failed", health.ChannelNone},
		{
			"the channel ended", channel(func(w *calendarsync.Watch) { w.Expiration = now }), health.Degraded, "watch_failed",
			health.ChannelExpired,
		},
		{
			"it is being stopped", channel(func(w *calendarsync.Watch) { w.Status = calendarsync.Retiring }), health.Degraded,
			"watch_failed", health.ChannelNone,
		},
		{
			"it is asked for", channel(func(w *calendarsync.Watch) { w.Status = calendarsync.Pending }), health.Degraded,
			"watch_failed", health.ChannelPending,
		},
		{
			"Google made none", channel(func(w *calendarsync.Watch) { w.Status = calendarsync.Failed }), health.Degraded,
			"watch_failed", health.ChannelFailed,
		},
		{
			"it pushes elsewhere", channel(func(w *calendarsync.Watch) { w.Address = "https://old.example" }), health.Degraded,
			"watch_failed", health.ChannelNone,
		},
		{"an older one is being stopped", func(f *health.Facts) {
			f.Channels = append(f.Channels, calendarsync.Watch{
				Status: calendarsync.Retiring, Address: terms.Address, Expiration: now.AddDate(0, 0, 9),
			})
		}, health.Healthy, "", health.ChannelActive},
		{"an event keeps failing", pending(calendars.DeferredFailed, ago(time.Hour)), health.Degraded, "sync_failed", health.ChannelActive},
		{
			"an event fails since two days", pending(calendars.DeferredFailed, ago(48*time.Hour)), health.Unhealthy, "sync_failed",
			health.ChannelActive,
		},
		{
			"cancellations are held", pending(calendars.DeferredHeld, ago(time.Hour)), health.Degraded, "mass_cancellation_held",
			health.ChannelActive,
		},
		{"an event is asked for", pending(calendars.DeferredCommand, ago(time.Hour)), health.Healthy, "", health.ChannelActive},
		{
			"the worst comes first", func(f *health.Facts) { f.Channels = nil; fails(30*time.Hour, fault.Provider)(f) },
			health.Unhealthy, "look_failed watch_failed", health.ChannelNone,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			facts := well()
			row.but(&facts)
			got := health.Of(facts, terms)
			var codes []string
			for _, trouble := range got.Troubles {
				codes = append(codes, trouble.Code)
				if !strings.HasSuffix(trouble.Message, ".") || trouble.Status == health.Healthy {
					t.Errorf("it says %+v", trouble)
				}
			}
			if wrong := strings.Join(codes, " "); got.Status != row.want || wrong != row.wrong || got.Channel != row.channel {
				t.Errorf("it is %s by %q with channel %s, want %s by %q with %s", got.Status, wrong, got.Channel, row.want, row.wrong, row.channel)
			}
		})
	}
}

func TestOf_WhereNothingIsFollowed_NamesTheSetting(t *testing.T) {
	t.Parallel()
	for setting, change := range map[string]func(*health.Terms){
		"QS_SYNC":       func(at *health.Terms) { at.Off, at.Address = true, "" },
		"QS_PUBLIC_URL": func(at *health.Terms) { at.Address = "" },
	} {
		at := terms
		change(&at)
		got := health.Of(well(), at)
		if got.Status != health.Degraded || len(got.Troubles) != 1 || !strings.Contains(got.Troubles[0].Message, setting) {
			t.Errorf("%s: %+v", setting, got)
		}
	}
}

func TestOf_PausedCalendar_ShowsTheEndOfItsPause(t *testing.T) {
	t.Parallel()
	facts := well()
	facts.Calendar.PausedUntil = now.Add(time.Hour)
	if got := health.Of(facts, terms); !got.PausedUntil.Equal(facts.Calendar.PausedUntil) {
		t.Errorf("paused until %v", got.PausedUntil)
	}
	facts.Calendar.PausedUntil = now
	if got := health.Of(facts, terms); !got.PausedUntil.IsZero() {
		t.Errorf("paused until %v, which is over", got.PausedUntil)
	}
}

func TestWorst_OfStatuses_IsTheGravest(t *testing.T) {
	t.Parallel()
	if got := health.Worst(); got != health.Healthy {
		t.Errorf("nothing is %s", got)
	}
	for i, status := range health.Statuses {
		all := slices.Clone(health.Statuses[:i+1])
		slices.Reverse(all)
		if got := health.Worst(all...); got != status {
			t.Errorf("the worst of %v is %s", all, got)
		}
	}
}
