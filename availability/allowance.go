package availability

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// The most answers about polls in a day of UTC. They keep anybody from finding a person's
// appointments by asking about slot after slot, or in poll after poll.
const (
	// perDay is how many answers about one poll its people get together.
	perDay = 30
	// perAsker is how many answers one person gets about all polls.
	perAsker = 60
)

// CodeAllowance (RateLimited) is the error of a poll, or an asker, that had the answers of the day.
const CodeAllowance = "availability_allowance"

const counterCollection = "availabilityAnswers"

// pollCounter and askerCounter are where answers are counted. No poll's id begins like an asker's
// counter: web app and server make UUIDs.
func pollCounter(pollID string) store.Path { return store.Doc(counterCollection, pollID) }

func askerCounter(userID string) store.Path { return store.Doc(counterCollection, "asker:"+userID) }

// count counts an answer about a poll before it is given. RateLimited with the time until the next
// day: the poll or the asker had theirs; then neither counts it.
func (s *Service) count(ctx context.Context, pollID, askerID string) error {
	now := s.Now().UTC()
	today := now.Truncate(24 * time.Hour)
	tomorrow := today.AddDate(0, 0, 1)
	allowances := []struct {
		counter store.Path
		most    int64
		message string
	}{
		{pollCounter(pollID), perDay, "Availability of this poll was asked for 30 times today. Ask again tomorrow."},
		{askerCounter(askerID), perAsker, "You asked for the availability of polls 60 times today. Ask again tomorrow."},
	}
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		docs, err := tx.GetAll(ctx, []store.Path{allowances[0].counter, allowances[1].counter})
		if err != nil {
			return err
		}
		for i, allowance := range allowances {
			counted := int64(0)
			if f := store.Fields(docs[i].Data); f.Time("day").Equal(today) {
				counted = f.Int("answers")
			}
			if counted >= allowance.most {
				return &fault.Error{
					Kind: fault.RateLimited, Own: true, Code: CodeAllowance, RetryAfter: tomorrow.Sub(now), Message: allowance.message,
				}
			}
			if err := tx.Set(allowance.counter, map[string]any{"day": today, "answers": counted + 1, "expiresAt": tomorrow}); err != nil {
				return err
			}
		}
		return nil
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
