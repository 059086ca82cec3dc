package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"questscheduler/internal/config"
	"questscheduler/internal/documentchanges"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
	"questscheduler/internal/store/firestore"
	"questscheduler/notify"
	webhooks "questscheduler/web-hooks"
)

// wireHints has the server hear of documents that others wrote: by a route of
// its own, and where the settings say so by listening to the store.
func (s *server) wireHints() {
	s.hints = &documentchanges.Intake{Queue: s.queue, Polls: s.polls(), Now: s.now}
	if s.drawsCards() {
		s.hints.Cards = s.scheduler.CheckCard
	}
	var documents webhooks.Documents = &documentchanges.RecordedIntake{Intake: s.hints, Store: s.documents, Log: s.log}
	if s.config.Sync == config.SyncOff {
		documents = unheardDocuments{}
	}
	webhooks.RegisterDocuments(s.edge, s.operators, documents)
}

// drawsCards tells whether what others write of a poll is to reach its card.
func (s *server) drawsCards() bool {
	return s.config.DiscordOwn == notify.OwnAll && s.announcer.Discord != nil && s.config.Sync == config.SyncOn
}

// unheardDocuments takes hints in and does nothing (QS_SYNC=off).
type unheardDocuments struct{}

// Changed implements webhooks.Documents.
func (unheardDocuments) Changed(context.Context, string, string) error { return nil }

// startListening listens to the store, where the settings say so, until
// stopListening.
func (s *server) startListening() {
	s.stopListening = func() {}
	followed, can := s.store.(*firestore.Store)
	if !can || s.config.DocumentHints != config.HintsListen || s.config.Sync == config.SyncOff {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	listener := &documentchanges.Listener{
		Source: newPollSource(followed, s.drawsCards()), Intake: s.hints, Store: s.documents, Instance: uuid.NewString(),
		NewTrace: s.newTrace, Wait: wait, Log: s.log,
	}
	go func() {
		defer close(ended)
		listener.Run(ctx)
	}()
	s.stopListening = func() {
		stop()
		<-ended // it looks at nothing but its context
	}
}

// pollSource tells of the documents of polls in Firestore, and of their slots and
// votes where it follows them.
type pollSource struct {
	parts []*partSource
}

// partSource tells of one collection, or of all of a name.
type partSource struct {
	store     *firestore.Store
	follow    func(since time.Time) *firestore.Following
	following *firestore.Following
}

// newPollSource follows polls, and with cards all that a card shows. Firestore
// lists what it is to follow once, at the beginning.
func newPollSource(documents *firestore.Store, cards bool) *pollSource {
	source := &pollSource{}
	add := func(follow func(collection string, since time.Time) *firestore.Following, collection string) {
		source.parts = append(source.parts, &partSource{store: documents, follow: func(since time.Time) *firestore.Following {
			return follow(collection, since)
		}})
	}
	add(firestore.Follow, "schedulers")
	if cards {
		add(firestore.FollowGroup, "slots")
		add(firestore.FollowGroup, "votes")
	}
	return source
}

// Listen implements documentchanges.Source. Where one part fails, all end, and the next call
// goes on with each from where it was.
func (p *pollSource) Listen(ctx context.Context, since time.Time, heard func(ctx context.Context, pollIDs []string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(p.parts))
	for _, part := range p.parts {
		go func() { ended <- part.listen(ctx, since, heard) }()
	}
	var failures []error
	for range p.parts {
		failures = append(failures, <-ended)
		cancel()
	}
	return errors.Join(failures...)
}

func (p *partSource) listen(ctx context.Context, since time.Time, heard func(ctx context.Context, pollIDs []string) error) error {
	if p.following == nil || !since.IsZero() {
		p.following = p.follow(since)
	}
	return p.store.Listen(ctx, p.following, func(ctx context.Context, changed []store.Path) error {
		var ids []string
		for _, path := range changed {
			if id := changes.PollOf(path); id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return heard(ctx, ids)
	})
}
