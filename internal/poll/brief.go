package poll

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

const (
	// atOnce is how many documents a list of sessions reads at once: each may have 1 MiB.
	atOnce = 100
	// mostBriefText and mostBriefName bound in bytes what a brief poll holds of a text and of a name.
	mostBriefText, mostBriefName = 16 << 10, 1500
)

// brief decodes what a list of polls needs of one, of at most some 40 KiB for one person: of the
// people those alone, and no other fields than those below. It is not for transitions.
func brief(people ...string) func(store.Document) Poll {
	only := onlyOf(people)
	return func(doc store.Document) Poll {
		p := Decode(doc)
		return Poll{
			ID: p.ID, Title: cut(p.Title, mostBriefText), Description: cut(p.Description, mostBriefText),
			CreatorID: cut(p.CreatorID, mostBriefName), Status: rules.Status(cut(string(p.Status), mostBriefName)),
			ParticipantIDs: only(p.ParticipantIDs), JoinedIDs: only(p.JoinedIDs), GroupID: cut(p.GroupID, mostBriefName),
			WinningSlotID: cut(p.WinningSlotID, mostBriefName), GoogleEventID: cut(p.GoogleEventID, mostBriefName),
			Cancelled: briefly(p.Cancelled), CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, Made: p.Made,
			namesCalendar: p.namesCalendar,
			Sync: Sync{
				State: p.Sync.State, Applied: p.Sync.Applied, Generation: p.Sync.Generation, Sequence: p.Sync.Sequence,
				Cancelled: briefly(p.Sync.Cancelled), Recorded: p.Sync.Recorded,
			},
		}
	}
}

// onlyOf leaves those of a list who are among people, each once.
func onlyOf(people []string) func(ids []string) []string {
	asked := make(map[string]bool, len(people))
	for _, id := range people {
		asked[id] = true
	}
	return func(ids []string) (known []string) {
		for _, id := range ids {
			if asked[id] && !slices.Contains(known, id) {
				known = append(known, id)
			}
		}
		return known
	}
}

func briefly(cancelled *Cancelled) *Cancelled {
	if cancelled == nil {
		return nil
	}
	return &Cancelled{At: cancelled.At, Reason: cut(cancelled.Reason, mostBriefName)}
}

// cut is the beginning of a text; it does not hold the rest.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:most], ""))
}

// briefs reads the polls of a query, a page at a time.
func briefs(ctx context.Context, reader store.Reader, userID string, asked store.Bound) ([]Poll, error) {
	return store.Collect(store.All(ctx, reader, asked, brief(userID)))
}

// inParts reads documents, some at once, and passes each to take, in the order of paths.
func inParts(ctx context.Context, reader store.Reader, paths []store.Path, take func(store.Document)) error {
	for part := range slices.Chunk(paths, atOnce) {
		docs, err := reader.GetAll(ctx, part)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			take(doc)
		}
	}
	return nil
}
