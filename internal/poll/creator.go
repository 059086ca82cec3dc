package poll

import (
	"context"

	"questscheduler/internal/store"
)

// Creator holds a person's settings, in their document of users, for the polls they create.
type Creator struct {
	// KeepsEvents is settings.keepCalendarEvents: an event of a poll that the web app cancels
	// or deletes directly is released, and not deleted.
	KeepsEvents bool
}

// LoadCreator reads a person's settings; the zero Creator where there are none.
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
