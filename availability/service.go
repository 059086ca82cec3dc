// Package availability says when a person is busy: it reads the canonical events of the
// person's calendars, asks Google for the others, and merges both (intervals are pure). What
// is not known is unknown, and never free.
package availability

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/store"
)

// Google asks for the busy times of calendars; gcal.Client implements it.
type Google interface {
	// FreeBusy returns the busy times of calendars of one account, by calendar. An error of
	// one calendar is in its entry and fails no other. from and to are at most mostAsked
	// apart.
	FreeBusy(ctx context.Context, account string, calendars []string, from, to time.Time) (map[string]gcal.FreeBusy, error)
}

// Service answers when people are busy, from their canonical events and from Google. It
// writes nothing but settings and the count of answers, and shows neither titles nor whose
// event it is. All fields are required. Safe for concurrent use. It works out a few answers
// at a time, and at most two for one person, or one if there are many; others are refused
// with CodeBusy.
type Service struct {
	Store  store.Store
	Google Google
	Now    func() time.Time
	// Recent is for how long a successful sync makes the canonical events of a calendar
	// current: as long as the sweep may take to find what pushes missed.
	Recent time.Duration
	// MembersListed says that nobody but the person and the server can have listed a member of a
	// group, so being listed proves acceptance (poll.Group.Listed).
	MembersListed bool

	running running
}

// MaxRange is the longest range of an answer.
const MaxRange = 366 * 24 * time.Hour

// Source says what an account's busy times were read from.
type Source string

// The sources, as the API shows them.
const (
	FromEvents   Source = "events"   // the events that the sync keeps
	FromFreeBusy Source = "freebusy" // Google, asked for this answer
	FromNothing  Source = "none"     // nothing could be read
)

// Reasons why times of an account are unknown, as the API shows them.
const (
	ReasonRevoked      = accounts.CodeTokenExpired
	ReasonScopeMissing = accounts.CodeScopeMissing
	ReasonFailing      = "failing"
	ReasonSeries       = "series_not_expandable"
	ReasonTimeZone     = "time_zone_unknown"
	ReasonTooMany      = "too_many_events"
)

// Unknown says why times of an account are unknown.
type Unknown struct {
	Reason string
	// Message says to the account's owner what to do.
	Message string
}

var unknowns = map[string]string{
	ReasonRevoked:      "Google Calendar authorization expired. Re-link in Settings.",
	ReasonScopeMissing: "Reading when you are busy was not granted; link the account again with the feature availability, and allow it.",
	ReasonFailing:      "Google Calendar did not say when you are busy; try again later.",
	ReasonSeries:       "A recurring event has a rule that cannot be read; from its start on, only other events are known.",
	ReasonTooMany:      "There are too many events in this time to work out when you are free; ask about a shorter time.",
	ReasonTimeZone: "The calendar's time zone is not known yet, so it is not known when its all-day events begin; try " +
		"again after the next sync.",
}

func unknownFor(reason string) *Unknown { return &Unknown{Reason: reason, Message: unknowns[reason]} }

// Account is where the times of one account came from.
type Account struct {
	ID     string
	Source Source
	// AsOf is when they were known to be so; zero if nothing could be read.
	AsOf time.Time
	// Unknown, if set, says why times of the account are unknown: all of them if the source
	// is FromNothing.
	Unknown *Unknown
}

// Answer is when a person is busy. What is neither busy nor unknown is free.
type Answer struct {
	Times
	Accounts []Account
}

// Own answers when a person is busy by their own linked accounts, or those of them that
// accountIDs names, from a time to another. Invalid: an empty range or one beyond MaxRange.
// NotFound: an account that is not the person's. RateLimited and Unavailable with CodeBusy:
// enough answers are being worked out.
func (s *Service) Own(ctx context.Context, userID string, from, to time.Time, accountIDs []string) (Answer, error) {
	within := Interval{Start: from.UTC(), End: to.UTC()}
	switch {
	case !from.Before(to):
		return Answer{}, fault.Field("end", "must be after start")
	case to.Sub(from) > MaxRange:
		return Answer{}, fault.Field("end", "must be at most 366 days after start")
	}
	done, err := s.running.enter(userID)
	if err != nil {
		return Answer{}, err
	}
	defer done()
	linked, err := accounts.OfPeople(ctx, s.Store, []string{userID})
	if err != nil {
		return Answer{}, err
	}
	linked, err = chosen(linked, accountIDs)
	if err != nil {
		return Answer{}, err
	}
	found, err := s.read(ctx, linked, within, nil)
	return found[userID], err
}

// chosen are the accounts with these ids, or without ids those that are linked.
func chosen(all []accounts.Account, ids []string) (some []accounts.Account, err error) {
	if len(ids) == 0 {
		return linkedOnes(all), nil
	}
	byID := make(map[string]accounts.Account, len(all))
	for _, account := range all {
		byID[account.ID] = account
	}
	for _, id := range ids {
		account, ok := byID[id]
		if !ok {
			return nil, fault.New(fault.NotFound, "There is no such linked account.")
		}
		delete(byID, id) // one that is named twice is NotFound the second time
		some = append(some, account)
	}
	return some, nil
}

func linkedOnes(all []accounts.Account) (linked []accounts.Account) {
	for _, account := range all {
		if account.Status != accounts.Unlinked {
			linked = append(linked, account)
		}
	}
	return linked
}
