package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/availability"
)

// availabilityRoutes say when people are busy, without what they do then.
func (s *server) availabilityRoutes() {
	route(s, "GET /v1/availability", "own-availability", persons,
		"When the caller is busy, by their linked accounts", s.ownAvailability)
	route(s, "GET /v1/polls/{id}/availability", "poll-availability", pollVoters,
		"Who is free, busy or unknown at each slot of a poll; people who do not share their availability, or are only named in "+
			"the poll, are unknown to others", s.pollAvailability)
	route(s, "GET /v1/availability/sharing", "get-availability-sharing", persons,
		"Whether the people of the caller's polls may see when the caller is free", s.availabilitySharing)
	route(s, "PUT /v1/availability/sharing", "set-availability-sharing", persons,
		"Share the caller's availability with the people of their polls, or stop it", s.shareAvailability)
}

type availabilityQuery struct {
	Start      time.Time   `query:"start" required:"true" doc:"Such as 2026-03-01T00:00:00Z."`
	End        time.Time   `query:"end" required:"true" doc:"After start, by at most 366 days."`
	AccountIDs []accountID `query:"account_id,explode" maxItems:"50" doc:"Only these linked accounts; absent: all. Repeat it for several."`
}

// accountID is the id of a linked account in a query.
type accountID string

// Schema implements huma.SchemaProvider.
func (accountID) Schema(huma.Registry) *huma.Schema {
	return patterned(`^acc_[A-Za-z0-9_-]{1,124}$`, "the id of a linked account")
}

type availabilityAnswer struct {
	Busy     []intervalAnswer     `json:"busy" doc:"When the caller is busy, earliest first, merged."`
	Unknown  []intervalAnswer     `json:"unknown" doc:"When it is not known, merged. Unknown is not free."`
	Accounts []availabilitySource `json:"accounts" doc:"What the answer was made of, first linked first."`
}

type intervalAnswer struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end" doc:"Exclusive."`
}

// availabilitySource says how fresh the times of an account are.
type availabilitySource struct {
	AccountID string         `json:"account_id"`
	AsOf      *time.Time     `json:"as_of" doc:"When the account's times were so; null if nothing could be read."`
	Source    string         `json:"source" enum:"events,freebusy,none" doc:"events: those that the sync keeps; freebusy: Google was asked; none: nothing could be read."`
	Unknown   *unknownAnswer `json:"unknown,omitempty" doc:"Why times of the account are unknown: all of them if the source is none."`
}

type unknownAnswer struct {
	Reason  string `json:"reason" enum:"token_expired,scope_missing,failing,series_not_expandable,time_zone_unknown,too_many_events"`
	Message string `json:"message" doc:"What to do."`
}

func (s *server) ownAvailability(ctx context.Context, by caller, in *availabilityQuery) (availabilityAnswer, error) {
	answer, err := s.Availability.Own(ctx, by.person.ID, in.Start, in.End, texts(in.AccountIDs))
	if err != nil {
		return availabilityAnswer{}, err
	}
	return availabilityAnswer{
		Busy: each(answer.Busy, answerInterval), Unknown: each(answer.Unknown, answerInterval), Accounts: each(answer.Accounts, answerSource),
	}, nil
}

func answerInterval(i availability.Interval) intervalAnswer {
	return intervalAnswer{Start: i.Start.UTC(), End: i.End.UTC()}
}

func answerSource(a availability.Account) availabilitySource {
	answer := availabilitySource{AccountID: a.ID, AsOf: instant(a.AsOf), Source: string(a.Source)}
	if a.Unknown != nil {
		answer.Unknown = &unknownAnswer{Reason: a.Unknown.Reason, Message: a.Unknown.Message}
	}
	return answer
}

type pollAvailabilityAnswer struct {
	Slots []slotAvailability `json:"slots" doc:"In the order of the poll's slots."`
}

type slotAvailability struct {
	SlotID string              `json:"slot_id"`
	People []personAtSlotState `json:"people"`
}

type personAtSlotState struct {
	UserID string `json:"user_id"`
	State  string `json:"state" enum:"free,busy,unknown" doc:"Unknown is not free: the person does not share it, or a calendar could not be read."`
}

func (s *server) pollAvailability(ctx context.Context, by caller, in *onPoll) (pollAvailabilityAnswer, error) {
	slots, err := s.Availability.ForPoll(ctx, in.ID, by.person.ID)
	return pollAvailabilityAnswer{Slots: each(slots, func(slot availability.Slot) slotAvailability {
		return slotAvailability{SlotID: slot.ID, People: each(slot.People, func(p availability.PersonState) personAtSlotState {
			return personAtSlotState{UserID: p.ID, State: string(p.State)}
		})}
	})}, err
}

type sharingBody struct {
	Share bool `json:"share" doc:"Off unless it was turned on."`
}

func (s *server) availabilitySharing(ctx context.Context, by caller, _ *struct{}) (sharingBody, error) {
	share, err := s.Availability.Shares(ctx, by.person.ID)
	return sharingBody{share}, err
}

func (s *server) shareAvailability(ctx context.Context, by caller, in *withBody[sharingBody]) (sharingBody, error) {
	return in.Body, s.Availability.Share(ctx, by.person.ID, in.Body.Share)
}
