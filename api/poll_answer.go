package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

// pollAnswer is the REST form of a poll.
type pollAnswer struct {
	ID                 string       `json:"id"`
	Title              string       `json:"title"`
	Description        string       `json:"description"`
	Status             string       `json:"status" enum:"OPEN,FINALIZED,CANCELLED,ARCHIVED"`
	CreatorID          string       `json:"creator_id"`
	Timezone           *string      `json:"timezone" doc:"An IANA name."`
	ParticipantIDs     []string     `json:"participant_ids"`
	PendingInvites     []string     `json:"pending_invites" doc:"All addresses for the creator; for others only their own, if it is invited."`
	GroupID            *string      `json:"group_id"`
	AllowLinkSharing   bool         `json:"allow_link_sharing"`
	Sync               syncAnswer   `json:"sync"`
	WinningSlot        *slotTime    `json:"winning_slot"`
	OriginalSlot       *slotTime    `json:"original_slot" doc:"The winning slot before the calendar moved the session."`
	ParticipantsHidden bool         `json:"participants_hidden" doc:"The votes are hidden now."`
	Slots              []slotAnswer `json:"slots"`
	Votes              []voteAnswer `json:"votes"`
	GoogleEventID      *string      `json:"google_event_id"`
	GoogleCalendarID   *string      `json:"google_calendar_id"`
	CreatedAt          *time.Time   `json:"created_at"`
	UpdatedAt          *time.Time   `json:"updated_at"`
}

// PollFields is pollAnswer for embedding: huma describes embedded structs that are
// exported only.
type PollFields = pollAnswer

// listedPoll is a poll in a list, with slots and votes on request.
type listedPoll struct {
	PollFields
	Slots []slotAnswer `json:"slots,omitzero" doc:"Absent unless include names them."`
	Votes []voteAnswer `json:"votes,omitzero" doc:"Absent unless include names them."`
}

// TransformSchema implements huma.SchemaTransformer.
func (pollAnswer) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "winning_slot", "original_slot")
}

type syncAnswer struct {
	State        string           `json:"state" doc:"OK, RESCHEDULED, CANCELLED or ERROR; empty if the poll follows no event."`
	Fingerprint  string           `json:"fingerprint" doc:"The event's time that was last applied; empty if none was."`
	LastSyncedAt *time.Time       `json:"last_synced_at"`
	Error        *syncErrorAnswer `json:"error,omitempty"`
	Cancelled    *cancelledAnswer `json:"cancelled,omitempty"`
}

type syncErrorAnswer struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

type cancelledAnswer struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

type slotTime struct {
	ID     string    `json:"id"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end" doc:"Exclusive; for whole days the midnight in UTC after the last."`
	AllDay bool      `json:"all_day"`
	Source string    `json:"source" enum:"poll,calendar"`
}

// slotAnswer has the counts of votes; preferred ones count as feasible too.
type slotAnswer struct {
	ID        string    `json:"id"`
	Start     time.Time `json:"start"`
	End       time.Time `json:"end"`
	AllDay    bool      `json:"all_day"`
	Source    string    `json:"source" enum:"poll,calendar"`
	Feasible  int64     `json:"feasible"`
	Preferred int64     `json:"preferred"`
}

type voteAnswer struct {
	UserID      string            `json:"user_id"`
	Votes       map[string]string `json:"votes" doc:"By slot id FEASIBLE or PREFERRED."`
	NoTimesWork bool              `json:"no_times_work"`
}

// answered is answerPoll for the result of a call of the scheduler.
func answered(view scheduler.View, err error) (pollAnswer, error) { return answerPoll(view), err }

func answerPoll(view scheduler.View) pollAnswer {
	p := view.Poll
	return pollAnswer{
		ID: p.ID, Title: p.Title, Description: p.Description, Status: string(p.Status), CreatorID: p.CreatorID,
		Timezone: optional(p.Timezone), ParticipantIDs: each(p.ParticipantIDs, itself), PendingInvites: each(p.PendingInvites, itself),
		GroupID: optional(p.GroupID), AllowLinkSharing: p.AllowLinkSharing,
		Sync:        answerSync(view),
		WinningSlot: answerTime(view.Winning), OriginalSlot: answerTime(view.Original), ParticipantsHidden: view.ParticipantsHidden(),
		Slots: each(view.Slots, answerSlot), Votes: each(view.Votes, answerVote),
		GoogleEventID: optional(p.GoogleEventID), GoogleCalendarID: optional(p.GoogleCalendarID),
		CreatedAt: instant(p.CreatedAt), UpdatedAt: instant(p.UpdatedAt),
	}
}

func answerListed(view scheduler.View, parts scheduler.Parts) listedPoll {
	answer := listedPoll{PollFields: answerPoll(view)}
	if parts.Slots {
		answer.Slots = answer.PollFields.Slots
	}
	if parts.Votes {
		answer.Votes = answer.PollFields.Votes
	}
	return answer
}

func answerSync(view scheduler.View) syncAnswer {
	sync := view.Poll.Sync
	answer := syncAnswer{State: string(sync.State), Fingerprint: sync.Applied.String(), LastSyncedAt: instant(view.SyncedAt)}
	if sync.Error != nil {
		answer.Error = &syncErrorAnswer{Code: string(sync.Error.Code), Message: sync.Error.Message, At: sync.Error.At.UTC()}
	}
	if sync.Cancelled != nil {
		answer.Cancelled = &cancelledAnswer{At: sync.Cancelled.At.UTC(), Reason: sync.Cancelled.Reason}
	}
	return answer
}

func answerTime(slot *poll.Slot) *slotTime {
	if slot == nil {
		return nil
	}
	return &slotTime{ID: slot.ID, Start: slot.Start.UTC(), End: slot.End.UTC(), AllDay: slot.AllDay, Source: slot.Source}
}

func answerSlot(slot poll.Slot) slotAnswer {
	return slotAnswer{
		ID: slot.ID, Start: slot.Start.UTC(), End: slot.End.UTC(), AllDay: slot.AllDay, Source: slot.Source,
		Feasible: slot.Feasible, Preferred: slot.Preferred,
	}
}

func answerVote(vote poll.Vote) voteAnswer {
	choices := vote.Choices
	if choices == nil {
		choices = map[string]string{}
	}
	return voteAnswer{UserID: vote.UserID, Votes: choices, NoTimesWork: vote.NoTimesWork}
}
