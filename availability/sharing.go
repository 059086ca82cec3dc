package availability

import (
	"context"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

// Shares reports whether a person shares their availability with the people of their polls.
// Nobody does unless they turned it on.
func (s *Service) Shares(ctx context.Context, userID string) (bool, error) {
	person, err := mirror.LoadPerson(ctx, s.Store, userID)
	return person.SharesAvailability, err
}

// Share turns that on or off. It takes effect with the next answer.
func (s *Service) Share(ctx context.Context, userID string, share bool) error {
	now := s.Now()
	return s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Merge(mirror.PersonPath(userID),
			store.Set("ownerId", userID), store.Set("sharesAvailability", share), store.Set("updatedAt", now))
	})
}
