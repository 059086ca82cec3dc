package availability

import (
	"context"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// perDay is how many answers about a poll its people get in a day of UTC. It keeps anybody
// from finding a person's appointments by asking about slot after slot.
const perDay = 30

// CodeAllowance (RateLimited) is the error of a poll that had its answers of the day.
const CodeAllowance = "availability_allowance"

const counterCollection = "availabilityAnswers"

func counterPath(pollID string) store.Path { return store.Doc(counterCollection, pollID) }

// count counts an answer about a poll before it is given. RateLimited with the time until
// the next day: there were perDay.
func (s *Service) count(ctx context.Context, pollID string) error {
	now := s.Now().UTC()
	today := now.Truncate(24 * time.Hour)
	tomorrow := today.AddDate(0, 0, 1)
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, counterPath(pollID))
		if err != nil {
			return err
		}
		counted := int64(0)
		if f := store.Fields(doc.Data); f.Time("day").Equal(today) {
			counted = f.Int("answers")
		}
		if counted >= perDay {
			return &fault.Error{
				Kind: fault.RateLimited, Code: CodeAllowance, RetryAfter: tomorrow.Sub(now),
				Message: "Availability of this poll was asked for 30 times today. Ask again tomorrow.",
			}
		}
		return tx.Set(counterPath(pollID), map[string]any{"day": today, "answers": counted + 1, "expiresAt": tomorrow})
	})
}

var expired = store.Select("expired counts of answers on availability", counterCollection, "expiresAt",
	store.Where("expiresAt", store.LessOrEqual))

// Queries are the package's queries, for opening a store.
var Queries = []*store.Query{expired}

// RemoveExpired removes at most limit counts of days that are over, and returns how many.
func RemoveExpired(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, err error) {
	return store.DeletePage(ctx, documents, expired.With(now).First(limit), nil)
}
