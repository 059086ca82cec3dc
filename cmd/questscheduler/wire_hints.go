package main

import (
	"context"
	"time"

	"github.com/google/uuid"

	"questscheduler/config"
	"questscheduler/hints"
	"questscheduler/store"
	"questscheduler/store/firestore"
	webhooks "questscheduler/web-hooks"
)

// wireHints has the server hear of documents that others wrote: by a route of
// its own, and where the settings say so by listening to the store.
func (s *server) wireHints() {
	s.hints = &hints.Hints{Queue: s.queue, Polls: s.polls(), Now: s.now}
	var documents webhooks.Documents = &hints.Noted{Hints: s.hints, Store: s.documents, Log: s.log}
	if s.config.Sync == config.SyncOff {
		documents = unheardDocuments{}
	}
	webhooks.RegisterDocuments(s.edge, s.operators, documents)
}

// unheardDocuments takes hints in and does nothing (QS_SYNC=off).
type unheardDocuments struct{}

// Told implements webhooks.Documents.
func (unheardDocuments) Told(context.Context, string, string) error { return nil }

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
	listener := &hints.Listener{
		Source: &pollSource{store: followed}, Hints: s.hints, Store: s.documents, Instance: uuid.NewString(),
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

// pollSource tells of the documents of polls in Firestore.
type pollSource struct {
	store     *firestore.Store
	following *firestore.Following
}

// Listen implements hints.Source.
func (p *pollSource) Listen(ctx context.Context, since time.Time, heard func(ctx context.Context, pollIDs []string) error) error {
	if p.following == nil || !since.IsZero() {
		p.following = firestore.Follow("schedulers", since)
	}
	return p.store.Listen(ctx, p.following, func(ctx context.Context, changed []store.Path) error {
		ids := make([]string, len(changed))
		for i, path := range changed {
			ids[i] = path.ID()
		}
		return heard(ctx, ids)
	})
}
