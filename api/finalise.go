package api

import (
	"context"
	"math"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

type finaliseBody struct {
	SlotID      documentID `json:"slot_id"`
	CreateEvent *bool      `json:"create_event,omitempty" default:"true" doc:"Make an event in the calendar."`
	AccountID   documentID `json:"account_id,omitempty" doc:"A linked account of the caller; absent: the one that owns the calendar, else the first linked."`
	CalendarID  calendarID `json:"calendar_id,omitempty" doc:"Absent: the calendar of an earlier finalisation of the poll, if its account may still write there; else the account's primary one."`
	Title       string     `json:"title,omitempty" maxLength:"200" doc:"Of the event; absent: the poll's."`
	Description *string    `json:"description,omitempty" maxLength:"8000" doc:"Of the event; absent: the poll's."`
	// A minute is the shortest event that makes sense, 31 days the longest slot.
	DurationMinutes *float64 `json:"duration_minutes,omitempty" minimum:"1" maximum:"44640" doc:"Length of the event from the slot's start; absent: the slot's length."`
	Attendees       []email  `json:"attendees,omitempty" maxItems:"200"`
	DeleteOldEvent  *bool    `json:"delete_old_event,omitempty" default:"true" doc:"Delete the event of an earlier finalisation from the calendar; otherwise it is released."`
}

func (s *server) finalise(ctx context.Context, by caller, in *onPollWith[finaliseBody]) (pollAnswer, error) {
	body := in.Body
	ask := scheduler.Finalise{
		SlotID: string(body.SlotID), CreateEvent: valueOr(body.CreateEvent, true),
		AccountID: string(body.AccountID), CalendarID: string(body.CalendarID),
		Title: body.Title, Description: body.Description, Duration: minutes(valueOr(body.DurationMinutes, 0)),
		Attendees: texts(body.Attendees), KeepOldEvent: !valueOr(body.DeleteOldEvent, true),
	}
	return s.countedFinalise(ctx, by, in.ID, ask, func(ask scheduler.Finalise) command[pollAnswer] {
		return command[pollAnswer]{
			route: "POST /v1/polls/" + in.ID + "/finalize", body: in.Body,
			read: func(ctx context.Context, _ try) (pollAnswer, error) {
				return answered(s.Scheduler.View(ctx, by.person, in.ID))
			},
			do: func(ctx context.Context, t try) (pollAnswer, error) {
				done, err := s.finalisedBefore(ctx, by, in, t)
				if err != nil {
					return pollAnswer{}, err
				}
				if done {
					return answered(s.Scheduler.View(ctx, by.person, in.ID))
				}
				ask.Request = t.id // the journal may have been read too early
				return answered(s.Scheduler.Finalise(ctx, by.person, in.ID, ask, by.cause))
			},
		}
	})
}

// recentEntries is how many journal entries are searched for an earlier try.
const recentEntries = 20

// finalisedBefore reports whether an earlier try at the same request finalised the
// poll after all, when its insert was carried out after its caller had gone. Then
// finalising again would replace that event.
func (s *server) finalisedBefore(ctx context.Context, by caller, in *onPollWith[finaliseBody], t try) (bool, error) {
	if !t.again {
		return false, nil
	}
	done := false
	_, err := s.Scheduler.Journal(ctx, by.person, in.ID, store.Paging{Limit: recentEntries},
		func(entry poll.JournalEntry) (goOn bool, err error) { // newest first
			if entry.At.Before(t.since) {
				return false, nil
			}
			if entry.Command != rules.CommandFinalise || entry.Who != by.person.ID {
				return true, nil
			}
			done = entry.WinningSlotID == string(in.Body.SlotID)
			return false, nil
		})
	return done, err
}

// minutes rounds to the millisecond, the precision of fingerprints.
func minutes(count float64) time.Duration {
	return time.Duration(math.Round(count*60_000)) * time.Millisecond
}
