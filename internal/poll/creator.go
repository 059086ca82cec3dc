package poll

import (
	"context"

	"questscheduler/internal/store"
)

// Creator is what a person set, in their document of users, for the polls they
// create.
type Creator struct {
	// KeepsEvents is settings.keepCalendarEvents: where the web app cancels or
	// deletes a poll by itself, its event is released, and stays in the calendar.
	// Otherwise it is deleted.
	KeepsEvents bool
}

// LoadCreator reads what a person set; the zero Creator where they have no
// document, or nobody is named.
func LoadCreator(ctx context.Context, reader store.Reader, uid string) (Creator, error) {
	path := store.Doc("users", uid)
	if invalid := path.Valid(); invalid != nil {
		return Creator{}, nil //nolint:nilerr // nobody is named
	}
	document, err := reader.Get(ctx, path)
	if err != nil {
		return Creator{}, err
	}
	return Creator{KeepsEvents: store.Fields(document.Data).Map("settings").Bool("keepCalendarEvents")}, nil
}
