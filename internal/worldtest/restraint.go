package worldtest

import (
	"context"
	"fmt"

	"questscheduler/accounts"
	"questscheduler/calendarsync"
	"questscheduler/cursor"
	"questscheduler/gcal"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/store"
)

// googleCalls are all calls of Google Calendar that the program makes.
type googleCalls interface {
	calendarsync.Google
	calendarsync.EventWriter
}

// restrained is Google Calendar, called by a program of which it is asked to
// leave alone what it must: it notes calls for an account whose grant it knows
// to be dead, and looks at a calendar whose quota is used up. A listing that begins is
// noted too: see arrives.
type restrained struct {
	googleCalls
	world *World
}

// checked makes a call for an account, and notes where it should not have
// reached Google.
func checked[T any](r *restrained, accountID string, do func() (T, error)) (T, error) {
	account := r.world.observed.document(accounts.Path(accountID))
	status := accounts.Status(store.Fields(account.Data).String("status"))
	dead := account.Exists() && status != accounts.Active
	before := r.world.Calls("")
	result, err := do()
	if dead && r.world.Calls("") != before {
		r.world.past.wrong = append(r.world.past.wrong, fmt.Sprintf("Google was called for account %s, which is %s", accountID, status))
	}
	return result, err
}

// Insert implements calendarsync.EventWriter.
func (r *restrained) Insert(ctx context.Context, ref gcal.Ref, event gcal.NewEvent) (gcal.Event, error) {
	return checked(r, ref.Account, func() (gcal.Event, error) { return r.googleCalls.Insert(ctx, ref, event) })
}

// Get implements calendarsync.Google.
func (r *restrained) Get(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error) {
	return checked(r, ref.Account, func() (gcal.Event, error) { return r.googleCalls.Get(ctx, ref, eventID) })
}

// PatchTimes implements calendarsync.EventWriter.
func (r *restrained) PatchTimes(ctx context.Context, ref gcal.Ref, eventID, etag string, to rules.Fingerprint, zone string) (gcal.Event, error) {
	return checked(r, ref.Account, func() (gcal.Event, error) { return r.googleCalls.PatchTimes(ctx, ref, eventID, etag, to, zone) })
}

// Delete implements calendarsync.EventWriter.
func (r *restrained) Delete(ctx context.Context, ref gcal.Ref, eventID string) (bool, error) {
	return checked(r, ref.Account, func() (bool, error) { return r.googleCalls.Delete(ctx, ref, eventID) })
}

// List implements calendarsync.Google.
func (r *restrained) List(ctx context.Context, ref gcal.Ref, syncToken, pageToken string) (gcal.Page, error) {
	key := poll.CalendarKey(ref.Account, ref.Calendar)
	calendar := cursor.Decode(r.world.observed.document(cursor.Path(key)))
	alone := r.world.running == nil && !r.world.skewed // a look that was overtaken may list once more
	if now := r.world.Clock.Now(); alone && syncToken != "" && calendar.ParkedUntil.After(now) {
		r.world.past.wrong = append(r.world.past.wrong, fmt.Sprintf("calendar %s was listed %v before its quota is back", ref.Calendar, calendar.ParkedUntil.Sub(now)))
	}
	if pageToken == "" {
		r.world.past.listed(key)
	}
	return checked(r, ref.Account, func() (gcal.Page, error) { return r.googleCalls.List(ctx, ref, syncToken, pageToken) })
}

// Watch implements calendarsync.Google.
func (r *restrained) Watch(ctx context.Context, ref gcal.Ref, request gcal.WatchRequest) (gcal.Channel, error) {
	return checked(r, ref.Account, func() (gcal.Channel, error) { return r.googleCalls.Watch(ctx, ref, request) })
}

// StopWatch implements calendarsync.Google.
func (r *restrained) StopWatch(ctx context.Context, accountID, channelID, resourceID string) error {
	_, err := checked(r, accountID, func() (any, error) { return nil, r.googleCalls.StopWatch(ctx, accountID, channelID, resourceID) })
	return err
}
