// Package feed gives each person who asks for it a calendar feed: an address without sign-in
// under which calendar programs read the person's sessions.
package feed

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Path is the path of the feeds; the secret and Extension follow.
const Path = "/feeds/"

// Extension ends the address of a feed.
const Extension = ".ics"

// MaxSessions is how many sessions a feed holds: those of the polls that were made last.
const MaxSessions = 1000

// KeepCancelled is how long a cancelled session stays in a feed.
const KeepCancelled = 30 * 24 * time.Hour

// Service makes, ends and renders feeds. All fields but AppURL are required. Safe for concurrent
// use.
type Service struct {
	Store store.Store
	Now   func() time.Time
	// URL is the server's public address, which feeds are below.
	URL string
	// AppURL is the web app's address; without it sessions have no link.
	AppURL string
}

// Renew gives a person the address of a new feed, and ends the feed that they had, in one
// transaction. The address cannot be read again.
func (s *Service) Renew(ctx context.Context, userID string) (address string, err error) {
	random := make([]byte, secretSize)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("make the secret of a feed: %w", err)
	}
	secret := base64.RawURLEncoding.EncodeToString(random)
	hash, _ := hashOf(secret) // of the right length
	now := s.Now()
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := end(ctx, tx, userID); err != nil {
			return err
		}
		if err := tx.Create(secretPath(hash), secretFields(userID, now)); err != nil {
			return err
		}
		return tx.Set(personPath(userID), personFields(hash, now))
	})
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(s.URL, "/") + Path + secret + Extension, nil
}

// Revoke ends a person's feed, if they have one.
func (s *Service) Revoke(ctx context.Context, userID string) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := end(ctx, tx, userID); err != nil {
			return err
		}
		return tx.Delete(personPath(userID))
	})
}

// end removes the secret of a person, if there is one.
func end(ctx context.Context, tx store.Tx, userID string) error {
	person, err := tx.Get(ctx, personPath(userID))
	if err != nil || !person.Exists() {
		return err
	}
	if hash := store.Fields(person.Data).String(fieldHash); hash != "" {
		return tx.Delete(secretPath(hash))
	}
	return nil
}

// Calendar renders the feed of a secret. NotFound: there is no such feed, whether it was renewed,
// revoked or never made; the error does not name the secret.
func (s *Service) Calendar(ctx context.Context, secret string) ([]byte, error) {
	hash, ok := hashOf(secret)
	if !ok {
		return nil, errNotFound()
	}
	doc, err := s.Store.Get(ctx, secretPath(hash))
	if err != nil {
		return nil, fmt.Errorf("read the owner of a calendar feed: %w", err)
	}
	owner := store.Fields(doc.Data).String(fieldOwner)
	if owner == "" {
		return nil, errNotFound()
	}
	sessions, err := s.sessions(ctx, owner)
	if err != nil {
		return nil, err
	}
	return Render(sessions)
}

func errNotFound() error {
	return fault.New(fault.NotFound, "There is no such calendar feed. Make a new one in Quest Scheduler.")
}

// sessions lists a person's sessions by one query, and one read of all their winning slots.
func (s *Service) sessions(ctx context.Context, userID string) (sessions []Session, err error) {
	polls, err := poll.Sessions(ctx, s.Store, userID, MaxSessions)
	if err != nil {
		return nil, fmt.Errorf("list the sessions of a calendar feed: %w", err)
	}
	now := s.Now()
	since := now.Add(-KeepCancelled)
	slots, err := poll.WinningSlots(ctx, s.Store, polls)
	if err != nil {
		return nil, fmt.Errorf("read the times of a calendar feed: %w", err)
	}
	for _, p := range polls {
		slot, known := slots[p.ID]
		session := sessionOf(p, slot, s.AppURL, now)
		if !known || !session.Renderable() || session.Cancelled && cancelledAt(p).Before(since) {
			continue
		}
		sessions = append(sessions, session)
	}
	return sessions, nil
}
