package scheduler

import (
	"context"
	"encoding/json"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

const (
	// cardsPage is how many documents a page of a sweep of cards reads.
	cardsPage = 100
	// cardsSlack is how far a sweep goes back behind the one before: for clocks
	// that differ, and for writes that were committed late.
	cardsSlack = 10 * time.Minute
)

// cardsPath holds until when cards were swept. Closed to clients.
var cardsPath = store.Doc("documentHints", "cards")

// cardsPlace is where a sweep of cards is.
type cardsPlace struct {
	// Since and Until are the time of the writes that it checks; Since is zero for the
	// first sweep of all, which comes by every poll and vote that has a time.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Kind is that of the writes (poll.Written); After and At, where set, are the
	// document that was dealt with last.
	Kind  int        `json:"kind"`
	After store.Path `json:"after,omitempty"`
	At    time.Time  `json:"at,omitzero"`
}

func (p cardsPlace) cursor() *store.Cursor {
	if p.After == "" {
		return nil
	}
	return &store.Cursor{Path: p.After, Values: []any{p.At}}
}

// SweepCards checks the cards of the polls that somebody wrote since the last sweep, without a
// document change that was reported. It does one page, from at ("": the beginning), and gives
// how many polls it checked and where to continue ("": the end). It costs a read for each
// written document, and CheckCard for each poll. A page may be repeated. It cannot find a vote
// that was deleted.
func (s *Service) SweepCards(ctx context.Context, at string, cause Cause) (checked int, next string, err error) {
	here, err := s.cardsPlace(ctx, at)
	if err != nil {
		return 0, "", err
	}
	part := store.Paging{Limit: cardsPage, After: here.cursor()}
	pollIDs, cursor, err := poll.Written(ctx, s.Store, here.Kind, here.Since, part)
	if err != nil {
		return 0, "", err
	}
	for _, id := range pollIDs {
		if err := s.CheckCard(ctx, id, cause); err != nil {
			return checked, "", err
		}
		checked++
	}
	if cursor != nil {
		here.After = cursor.Path
		here.At, _ = cursor.Values[0].(time.Time) // the query asks for times alone
	} else {
		here.Kind++
		if here.Kind == poll.WrittenKinds {
			return checked, "", s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
				return tx.Set(cardsPath, map[string]any{"until": here.Until})
			})
		}
		here.After, here.At = "", time.Time{}
	}
	written, err := json.Marshal(here)
	return checked, string(written), err
}

// cardsPlace reads a place, or begins where the last sweep ended.
func (s *Service) cardsPlace(ctx context.Context, at string) (here cardsPlace, err error) {
	if at != "" && json.Unmarshal([]byte(at), &here) == nil && here.Kind >= 0 && here.Kind < poll.WrittenKinds {
		return here, nil
	}
	document, err := s.Store.Get(ctx, cardsPath)
	if err != nil {
		return cardsPlace{}, err
	}
	now := store.Instant(s.Now()).UTC()
	here = cardsPlace{Until: now}
	if document.Exists() {
		here.Since = store.Fields(document.Data).Time("until").Add(-cardsSlack)
	}
	return here, nil
}
