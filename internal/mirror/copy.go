package mirror

import (
	"context"
	"iter"
	"strings"
	"time"

	"questscheduler/internal/store"
)

// SourceCopy is the source of an event whose id is one of a mirror's, as its calendar shows
// it: a mirror, a copy that its owner kept, or an event of somebody else's program with such
// an id. It occupies its owner as other events of the calendar do, and is nobody's origin.
const SourceCopy Source = "copy"

// copyOwner begins the OwnerID of copies; no person's id has a slash. It keeps them out of
// every question about a person's events, except for Blocking.
const copyOwner = "copies/"

// CopyOwner is the OwnerID of the copies in a person's calendars.
func CopyOwner(ownerID string) string { return copyOwner + ownerID }

// CopyID is the ID of the copy with an event's id in a calendar.
func CopyID(accountID, calendarID, eventID string) string {
	return "copy_" + OriginKey(accountID, calendarID, eventID)
}

// Blocking yields what may occupy the owners of accounts in a time range: the events of the
// accounts' calendars as OverlapsOfPeople lists them, and the copies there, with the person as
// owner. Titles, descriptions and locations are left out. It takes three queries for each 30
// accounts, and fewer if the caller stops.
func Blocking(ctx context.Context, reader store.Reader, accountIDs []string, start, end time.Time) iter.Seq2[Event, error] {
	of := ofAccounts
	of.timesOnly = true
	return func(yield func(Event, error) bool) {
		for event, err := range of.all(ctx, reader, accountIDs, start, end) {
			event.OwnerID = strings.TrimPrefix(event.OwnerID, copyOwner)
			if !yield(event, err) {
				return
			}
		}
	}
}

// BlockingOfGroups is Blocking for the events of groups, by two queries for each 30.
func BlockingOfGroups(ctx context.Context, reader store.Reader, groupIDs []string, start, end time.Time) iter.Seq2[Event, error] {
	of := ofGroups
	of.timesOnly = true
	return of.all(ctx, reader, groupIDs, start, end)
}

func decodeTimes(doc store.Document) Event {
	event := DecodeEvent(doc)
	event.Title, event.Description, event.Location = "", "", ""
	return event
}
