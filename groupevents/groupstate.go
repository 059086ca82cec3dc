package groupevents

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// groupState is a document of groupEvents, one for each group that uses them: its settings, and
// what each of its people did, for the bounds on that.
type groupState struct {
	GroupID       string
	ShareSessions bool
	// Authors count what each person did, for MaxPerDay, MaxPresent and MaxSwitches.
	Authors []authored
}

func loadState(ctx context.Context, reader store.Reader, groupID string) (groupState, error) {
	doc, err := reader.Get(ctx, poll.GroupStatePath(groupID))
	if err != nil {
		return groupState{}, err
	}
	return decodeState(doc), nil
}

func (g groupState) write(tx store.Tx) error {
	return tx.Set(poll.GroupStatePath(g.GroupID), g.encode())
}

func (g groupState) encode() map[string]any {
	authors := make([]any, len(g.Authors))
	for i, a := range g.Authors {
		authors[i] = map[string]any{"authorId": a.AuthorID, "day": a.Day, "today": a.Today, "present": a.Present, "switches": a.Switches}
	}
	return map[string]any{"shareSessions": g.ShareSessions, "authors": authors}
}

func decodeState(doc store.Document) groupState {
	f := store.Fields(doc.Data)
	g := groupState{GroupID: doc.Path.ID(), ShareSessions: f.Bool("shareSessions")}
	for _, item := range f.List("authors") {
		fields, _ := item.(map[string]any)
		a := store.Fields(fields)
		g.Authors = append(g.Authors, authored{
			AuthorID: a.String("authorId"), Day: a.Time("day"), Today: a.Int("today"), Present: a.Int("present"), Switches: a.Int("switches"),
		})
	}
	return g
}
