package calendars_test

import (
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/roundtrip"
)

// Each field is written by the function of an event in a calendar's life. The
// functions are given the calendar as it was before.
func TestCalendar_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[calendars.Calendar]{
		Through: func(c calendars.Calendar) calendars.Calendar {
			interest := c.Interests[poll.ConsumerPoll]
			before := calendars.Calendar{
				AccountID: c.AccountID, CalendarID: c.CalendarID, Interests: map[string]int64{poll.ConsumerPoll: interest - 1},
				LegacyEventIDs: c.LegacyEventIDs[:1], Fence: c.Fence - 1, SyncAttempts: c.SyncAttempts - 1, SyncAt: c.StartedAt,
				FailedSince: c.FailedSince,
			}
			linked := before.Link(calendars.Request{At: c.LinkedAt, Trigger: c.SyncCause, Trace: c.SyncTrace}, c.OwnerID, c.LegacyEventIDs[1])
			claimed, _, _ := before.Claim(c.StartedAt, 0)
			swept, _ := calendars.Calendar{SweptAt: c.SweptAt, SuccessAt: c.SweptAt, GoodSweeps: c.GoodSweeps - 1}.Unwatched(c.SweptAt)
			failed, _ := calendars.Calendar{SweepFailures: c.SweepFailures - 1}.SweepEnded(c.SweepAt, true)
			updates := [][]store.Update{
				failed, calendars.PlanSweep(c.SweepAt, c.SweepTrace),
				linked, claimed, before.Succeeded(c.SuccessAt, c.SyncToken, c.MaskVersion, time.Time{}),
				before.Failed(c.SyncedAt, c.LastError, time.Time{}), {before.CountFailure()},
				calendars.InZone(c.TimeZone), before.Renew(c.LeaseUntil.Add(-calendars.Lease)), before.Ended(c.SyncedAt, c.SyncAt),
				{store.Set("leaseUntil", c.LeaseUntil)}, {calendars.Pause(c.PausedUntil)}, swept, before.Refused(c.RefusedSince),
			}
			for consumer, backlog := range c.Backlogs {
				follows := calendars.Calendar{Interests: map[string]int64{consumer: 1}}
				for event, deferral := range backlog.Deferred {
					updates = append(updates, []store.Update{{
						Path: store.Field("deferred", consumer, event), Value: map[string]any{"at": deferral.At, "why": deferral.Why},
					}})
				}
				updates = append(updates, follows.RequestRelist(consumer, calendars.Request{At: backlog.Relist})[4:])
			}
			if c.SyncPending {
				updates = append(updates, calendars.RequestSync(calendars.Request{At: c.SyncAt, Trigger: c.SyncCause, Trace: c.SyncTrace}))
			}
			if c.HoldUnannounced {
				updates = append(updates, calendars.Hold("e", c.LinkedAt)[1:])
			}
			return calendars.Decode(roundtrip.Kept(t, calendars.Path(c.Key), updates...))
		},
		Fixed: map[string]any{"SweepFailures": int64(2), "Interests": map[string]int64{poll.ConsumerPoll: 7}},
	})
}
