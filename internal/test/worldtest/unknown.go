package worldtest

import (
	"context"
	"fmt"
	"reflect"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// unknownTo are the fields that the web app keeps beside those which the
// program knows, by the collection: at the top and within what it writes
// itself.
var unknownTo = map[string][]store.FieldPath{
	"schedulers": {
		store.Field("timezoneMode"), store.Field("embeddedPolls"), store.Field("calendarSync", "seenBy"),
		store.Field("discord", "lastPoster"),
	},
	"slots":          {store.Field("label"), store.Field("stats", "hidden")},
	"votes":          {store.Field("userName"), store.Field("mood")},
	"users":          {store.Field("settings", "theme"), store.Field("displayName")},
	"questingGroups": {store.Field("banner"), store.Field("discord", "inviteUrl")},
}

// Unknown writes into documents fields that the program has never heard of. From
// then on they must stay as they are for as long as the document is there
// (invariant 12). Votes get the fields of AppVote too.
func (w *World) Unknown(paths ...store.Path) {
	w.t.Helper()
	w.must(w.Documents.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		for _, path := range paths {
			var updates []store.Update
			for _, field := range unknownTo[path.Collection()] {
				updates = append(updates, store.Update{Path: field, Value: unknownValue(path, field)})
			}
			if path.Collection() == allVotes.Collection {
				updates = append(updates, AppVote(path.ID())...)
			}
			if err := tx.Merge(path, updates...); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, path := range paths {
		w.past.unknown[path] = true
	}
}

// AppVote are the fields of a person's vote that only the web app and its bot
// write, and that a restore gives back.
func AppVote(voter string) []store.Update {
	return []store.Update{
		poll.Set("userAvatar", "https://example.com/"+voter+".png"), poll.Set("source", "discord"), poll.Set("lastVotedFrom", "web"),
	}
}

// unknownValue is what value in a field that the program does not know.
func unknownValue(path store.Path, field store.FieldPath) map[string]any {
	return map[string]any{"of": string(path) + "/" + field.String(), "list": []any{int64(1), nil, 3.5}}
}

// unknownProblems: unknown fields of shared documents survive every write
// (invariant 12). A document that is gone is not checked again.
func (w *World) unknownProblems(document store.Document) (problems []string) {
	if !w.past.unknown[document.Path] {
		return nil
	}
	if !document.Exists() {
		delete(w.past.unknown, document.Path)
		return nil
	}
	for _, field := range unknownTo[document.Path.Collection()] {
		value, _ := field.Lookup(document.Data)
		if !reflect.DeepEqual(value, any(unknownValue(document.Path, field))) {
			problems = append(problems, fmt.Sprintf("the field %s of %s, which is not ours, became %v", field, document.Path, value))
		}
	}
	return problems
}
