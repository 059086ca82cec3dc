package scheduler

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// Create is the input for a new poll.
type Create struct {
	// ID is the poll's, a UUID; "" makes a new one. Asking again for one that
	// the person made already gives the poll as it is by now.
	ID string
	// Again reports whether an earlier request may have made the poll of that ID, which
	// may have been deleted since.
	Again            bool
	Title            string
	Description      string
	Timezone         string // IANA name; "" for none
	Slots            []Times
	ParticipantIDs   []string
	PendingInvites   []string
	GroupID          string
	AllowLinkSharing bool
}

// Times are the two ends of a slot.
type Times struct{ Start, End time.Time }

// Limits of a poll.
const (
	MaxSlots  = poll.MaxSlots
	MaxPeople = 500
)

// Create makes a poll, in which its creator takes part. A named group must be one that the
// person belongs to. Conflict where the id is another person's poll, or a poll of it was just
// deleted. Invalid for participants who left the person's last polls unanswered (naming).
func (s *Service) Create(ctx context.Context, person Person, ask Create, cause Cause) (View, error) {
	if err := ask.check(person); err != nil {
		return View{}, err
	}
	fresh := poll.Poll{
		ID: cmp.Or(ask.ID, s.IDs.UUID()), Title: strings.TrimSpace(ask.Title), Description: ask.Description,
		CreatorID: person.ID, CreatorEmail: person.Email, AllowLinkSharing: ask.AllowLinkSharing,
		Timezone: ask.Timezone, GroupID: ask.GroupID, CreatedAt: store.Instant(s.Now()),
		ParticipantIDs: withPerson(person.ID, ask.ParticipantIDs), PendingInvites: lowerAll(ask.PendingInvites),
	}
	slots := make([]poll.Slot, len(ask.Slots))
	for i, times := range ask.Slots {
		slots[i] = poll.Slot{ID: s.IDs.UUID(), Start: times.Start.UTC(), End: times.End.UTC()}
	}
	named, err := inquire(ctx, s.Store, s.MembersListed, poll.Poll{CreatorID: person.ID, GroupID: fresh.GroupID}, fresh.ParticipantIDs)
	if err != nil {
		return View{}, pollError(fresh.ID, "create", err)
	}
	var p poll.Poll
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		made, err := madeBefore(ctx, tx, person, ask)
		if err != nil {
			return err
		}
		if made != nil {
			p = *made
			return nil
		}
		p = fresh
		if err := createPoll(ctx, tx, &p, slots, named); err != nil {
			return err
		}
		if cause.Interaction != "" {
			if err := tx.Create(discord.InteractionPath(cause.Interaction), discord.EncodeInteraction(s.Now())); err != nil {
				return err
			}
		}
		return s.recordCard(tx, p, cause)
	})
	err = s.unlessDone(ctx, cause, err)
	if err != nil {
		return View{}, pollError(fresh.ID, "create", err)
	}
	s.updateCardSoon(ctx, p)
	return s.View(ctx, person, p.ID)
}

// createPoll writes a new poll, and completes it with its group's name. named is of its people.
func createPoll(ctx context.Context, tx store.Tx, p *poll.Poll, slots []poll.Slot, named naming) error {
	group, err := poll.LoadGroup(ctx, tx, p.GroupID)
	if err != nil {
		return err
	}
	if p.GroupID != "" && !group.Has(p.CreatorID) {
		return fault.Field("group_id", "must be a group you belong to")
	}
	if group != nil {
		p.GroupName = group.Name
	}
	if err := named.check(ctx, tx, poll.Poll{CreatorID: p.CreatorID}, group, p.ParticipantIDs); err != nil {
		return err
	}
	if err := tx.Create(poll.Path(p.ID), poll.New(*p)); err != nil {
		return err
	}
	for _, slot := range slots {
		if err := tx.Create(poll.SlotPath(p.ID, slot.ID), poll.EncodeSlot(slot)); err != nil {
			return err
		}
	}
	others := transition.NamedOf(p.ParticipantIDs, *p)
	if len(others) == 0 {
		return nil
	}
	return tx.Merge(poll.AnnouncementPath(p.ID), poll.NamedUpdates(p.ID, others)...)
}

// madeBefore is the poll of a requested id that an earlier request of the person made; nil for
// none. Conflict where that one was deleted and something of it is left.
func madeBefore(ctx context.Context, tx store.Tx, person Person, ask Create) (*poll.Poll, error) {
	if ask.ID == "" {
		return nil, nil
	}
	made, err := poll.Load(ctx, tx, ask.ID)
	if fault.Is(err, fault.NotFound) {
		if !ask.Again {
			return nil, nil
		}
		return nil, checkGone(ctx, tx, ask.ID)
	}
	if err == nil && made.CreatorID != person.ID {
		err = fault.New(fault.Conflict, "Another poll has this id. Ask for a new one.")
	}
	return &made, err
}

// checkGone refuses an id of which a deleted poll left something.
func checkGone(ctx context.Context, tx store.Tx, id string) (err error) {
	var gone transition.State
	gone.Intents, err = poll.IntentsOf(ctx, tx, id)
	if err != nil {
		return err
	}
	gone.Latest, err = poll.Latest(ctx, tx, id)
	if err == nil && (gone.Latest != nil || len(gone.Intents) > 0) {
		err = fault.New(fault.Conflict, "This poll was made and deleted. Send the request with a new Idempotency-Key to make another one.")
	}
	return err
}

// recordCard records that the poll's card has to be updated without an announcement.
func (s *Service) recordCard(tx store.Tx, p poll.Poll, cause Cause) error {
	if !mayHaveCard(p) {
		return nil
	}
	return tx.Merge(poll.AnnouncementPath(p.ID), poll.CardPendingUpdates(p.ID, s.IDs.ULID("crd"), cause.Trace, store.Instant(s.Now()))...)
}

// updateCardSoon has the card updated that a transaction recorded, after its commit.
func (s *Service) updateCardSoon(ctx context.Context, p poll.Poll) {
	if mayHaveCard(p) {
		s.Outbox.Soon(ctx, poll.AnnounceKind, p.ID, s.Now())
	}
}

func (c Create) check(by Person) error {
	if err := checkTexts(&c.Title, &c.Description, &c.Timezone); err != nil {
		return err
	}
	if err := checkPeople("participant_ids", by.ID, c.ParticipantIDs); err != nil {
		return err
	}
	if err := checkInvites(c.PendingInvites); err != nil {
		return err
	}
	return checkSlots(c.Slots)
}

// checkTexts refuses what a poll cannot show; nil is not checked.
func checkTexts(title, description, timezone *string) (err error) {
	if title != nil {
		_, err = rules.Title("title", *title, rules.MaxTitle)
	}
	if err == nil && description != nil {
		err = rules.CheckText("description", *description, rules.MaxDescription)
	}
	if err == nil && timezone != nil {
		_, err = poll.Zone(*timezone)
	}
	return err
}

func checkSlots(slots []Times) error {
	if len(slots) == 0 || len(slots) > MaxSlots {
		return fault.Field("slots", "must hold 1 to 200 times")
	}
	for _, slot := range slots {
		span := rules.Span{Start: slot.Start, End: slot.End, StartField: "start", EndField: "end", Longest: 31 * 24 * time.Hour}
		if err := span.Check(); err != nil {
			return fault.Field("slots", "must have times that fit: "+err.Error())
		}
	}
	return nil
}

func withPerson(id string, others []string) []string {
	people := []string{id}
	for _, other := range others {
		if other != "" && !slices.Contains(people, other) {
			people = append(people, other)
		}
	}
	return people
}

func lowerAll(emails []string) []string {
	var lower []string
	for _, email := range emails {
		email = strings.ToLower(strings.TrimSpace(email))
		if email != "" && !slices.Contains(lower, email) {
			lower = append(lower, email)
		}
	}
	return lower
}
