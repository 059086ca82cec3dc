package main

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"questscheduler/internal/config"
	"questscheduler/internal/ids"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
	"questscheduler/internal/store/firestore"
	"questscheduler/web-hooks/documentchanges"
)

// newListener listens to Firestore for polls that others write; nil unless the
// settings say so.
func (s *server) newListener(changed *documentchanges.Intake, cards cards) *documentchanges.Listener {
	documents, can := s.store.(*firestore.Store)
	if !can || s.config.DocumentChanges != config.ChangesListen || s.config.Sync == config.SyncOff {
		return nil
	}
	return &documentchanges.Listener{
		Source: &pollSource{store: documents, cards: cards.check != nil}, Intake: changed, Store: s.documents, Instance: ids.UUID(),
		NewTrace: s.newTrace, Wait: wait, Log: s.log,
	}
}

// pollSource reports changed polls in Firestore.
type pollSource struct {
	store     *firestore.Store
	cards     bool // follow slots and votes too, which a card shows
	following []*firestore.Following
}

// Listen implements documentchanges.Source. If one collection fails, all end, and
// the next call resumes each where it was.
func (p *pollSource) Listen(ctx context.Context, since time.Time, heard func(ctx context.Context, pollIDs []string) error) error {
	if p.following == nil || !since.IsZero() {
		p.following = []*firestore.Following{firestore.Follow("schedulers", since)}
		if p.cards {
			p.following = append(p.following, firestore.FollowGroup("slots", since), firestore.FollowGroup("votes", since))
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, following := range p.following {
		group.Go(func() error {
			return p.store.Listen(ctx, following, func(ctx context.Context, changed []store.Path) error {
				var ids []string
				for _, path := range changed {
					if id := changes.PollOf(path); id != "" && !slices.Contains(ids, id) {
						ids = append(ids, id)
					}
				}
				return heard(ctx, ids)
			})
		})
	}
	return group.Wait()
}
