package api

import (
	"context"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

type listJournal struct {
	Paging
	ID string `path:"id" doc:"The poll's id."`
}

type journalList struct {
	page
	Entries []entryAnswer `json:"entries"`
}

type entryAnswer struct {
	ID           string            `json:"id"`
	PollID       string            `json:"poll_id"`
	At           time.Time         `json:"at"`
	Trace        string            `json:"trace" doc:"Joins all that one trigger caused; for requests of people it is the request_id."`
	Trigger      string            `json:"hint" doc:"What triggered the sync or the command: person, push, timer …"`
	Who          *string           `json:"who" doc:"The person who commanded; null for the calendar."`
	Command      string            `json:"command" doc:"What the person commanded; empty for the calendar."`
	Observation  observationAnswer `json:"observation"`
	Before       string            `json:"before" doc:"The fingerprint applied before."`
	After        string            `json:"after" doc:"The one applied now."`
	Baseline     string            `json:"baseline" doc:"The time that was agreed, after the decision."`
	Decision     string            `json:"decision"`
	Reason       string            `json:"reason"`
	Observed     bool              `json:"observed" doc:"The decision was only recorded, and nothing was applied (QS_SYNC=observe)."`
	Fence        int64             `json:"fence" doc:"Of the sync run; 0 for commands."`
	Result       resultAnswer      `json:"result"`
	Announcement *string           `json:"announcement" doc:"What the decision announces; null if nothing."`

	CanonicalEventID string `json:"canonical_event_id,omitempty" doc:"Of a step of mirroring: the event. poll_id is then empty, decision the step, and before and after are the states of the mirror, or the versions of the event."`
	MirrorID         string `json:"mirror_id,omitempty" doc:"Of a step of one mirror."`
	TargetAccountID  string `json:"target_account_id,omitempty" doc:"The account that the mirror is in."`
}

type observationAnswer struct {
	EventState  string     `json:"seen"`
	Fingerprint string     `json:"fingerprint"`
	Updated     *time.Time `json:"updated"`
	EventID     *string    `json:"event_id"`
	CalendarID  *string    `json:"calendar_id"`
	AccountID   *string    `json:"account_id"`
}

type resultAnswer struct {
	Status        string  `json:"status"`
	State         string  `json:"state"`
	Error         *string `json:"error"`
	Generation    int64   `json:"generation"`
	WinningSlotID *string `json:"winning_slot_id"`
	Rescheduled   bool    `json:"rescheduled"`
}

func (s *server) listJournal(ctx context.Context, by caller, in *listJournal) (journalList, error) {
	place := listing{name: "journal", parent: poll.Path(in.ID), collection: "journal"}
	entries, is, err := listed(place, in.Paging, answerEntry,
		func(part store.Paging, take func(poll.JournalEntry) (bool, error)) (*store.Cursor, error) {
			return s.Scheduler.Journal(ctx, by.person, in.ID, part, take)
		})
	return journalList{page: is, Entries: entries}, err
}

// answerMirrorEntry is a step of mirroring in the shape of a poll's entries.
func answerMirrorEntry(e mirror.JournalEntry) entryAnswer {
	return entryAnswer{
		ID: e.ID, At: e.At.UTC(), Trace: e.Trace, Trigger: e.Trigger, Who: optional(e.Who), Before: e.Before, After: e.After,
		Decision: string(e.Step), Reason: e.Reason, Observed: e.Step == mirror.StepWouldPlan,
		CanonicalEventID: e.EventID, MirrorID: e.MirrorID, TargetAccountID: e.TargetAccountID,
	}
}

func answerEntry(e poll.JournalEntry) entryAnswer {
	return entryAnswer{
		ID: e.ID, PollID: e.PollID, At: e.At.UTC(), Trace: e.Trace, Trigger: e.Trigger, Who: optional(e.Who), Command: string(e.Command),
		Observation: observationAnswer{
			EventState: e.EventState, Fingerprint: e.Fingerprint.String(), Updated: instant(e.Updated),
			EventID: optional(e.EventID), CalendarID: optional(e.CalendarID), AccountID: optional(e.AccountID),
		},
		Before: e.Before.String(), After: e.After.String(), Baseline: e.Baseline.String(),
		Decision: string(e.Decision), Reason: e.Reason, Observed: e.Observed, Fence: e.Fence,
		Result: resultAnswer{
			Status: string(e.Status), State: string(e.State), Error: optional(string(e.Error)),
			Generation: e.Generation, WinningSlotID: optional(e.WinningSlotID), Rescheduled: e.Rescheduled,
		},
		Announcement: optional(e.Announcement),
	}
}
