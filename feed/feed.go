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

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Path is the path of the feeds; the secret and Extension follow.
const Path = "/feeds/"

// Extension ends the address of a feed.
const Extension = ".ics"

// MaxSessions is how many sessions a feed holds (choice.go).
const MaxSessions = 1000

// KeepCancelled is how long a cancelled session stays in a feed.
const KeepCancelled = 30 * 24 * time.Hour

// Service makes, ends and renders feeds. All fields but AppURL and SignIns are required. Safe for
// concurrent use; not to be copied after its first use.
type Service struct {
	Store store.Store
	Now   func() time.Time
	// URL is the server's public address, which feeds are below.
	URL string
	// AppURL is the web app's address; without it sessions have no link.
	AppURL string
	// SignIns ends the feeds of people whose sign-in was ended. nil: feeds end by Renew and Revoke
	// alone.
	SignIns SignIns
	// MembersListed says that nobody but the person and the server can have listed a member of a
	// group, so being listed proves acceptance (poll.Group.Listed).
	MembersListed bool

	kept  kept
	turns turns
}

// Renew gives a person the address of a new feed, and ends the feed that they had, in one
// transaction. The address cannot be read again. signedIn is when the person signed in: the feed
// ends with that sign-in (zero: with those of before now).
func (s *Service) Renew(ctx context.Context, userID string, signedIn time.Time) (address string, err error) {
	random := make([]byte, secretSize)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("make the secret of a feed: %w", err)
	}
	secret := base64.RawURLEncoding.EncodeToString(random)
	hash, _ := hashOf(secret) // of the right length
	now := s.Now()
	if signedIn.IsZero() {
		signedIn = now
	}
	err = s.end(ctx, userID, func(tx store.Tx) error {
		if err := tx.Create(secretPath(hash), secretFields(userID, signedIn, now)); err != nil {
			return err
		}
		return tx.Set(personPath(userID), personFields(hash))
	})
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(s.URL, "/") + Path + secret + Extension, nil
}

// Revoke ends a person's feed, if they have one.
func (s *Service) Revoke(ctx context.Context, userID string) error {
	return s.end(ctx, userID, func(tx store.Tx) error { return tx.Delete(personPath(userID)) })
}

// end removes the secret of a person, if there is one, in one transaction with other writes. This
// process forgets the feed whatever becomes of the transaction: it may be committed without an
// answer.
func (s *Service) end(ctx context.Context, userID string, and func(tx store.Tx) error) error {
	var ended string
	defer func() {
		s.turns.end(ended)
		s.kept.forget(ended)
	}()
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		person, err := tx.Get(ctx, personPath(userID))
		if err != nil {
			return err
		}
		if hash := store.Fields(person.Data).String(fieldHash); hash != "" {
			ended = hash
			if err := tx.Delete(secretPath(hash)); err != nil {
				return err
			}
		}
		return and(tx)
	})
}

// sessions lists a person's sessions: the chosen polls, and one read of all their winning slots.
func (s *Service) sessions(ctx context.Context, userID string) (sessions []Session, err error) {
	chosen, err := s.choose(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("list the sessions of a calendar feed: %w", err)
	}
	now := s.Now()
	slots, err := poll.WinningSlots(ctx, s.Store, chosen.polls)
	if err != nil {
		return nil, fmt.Errorf("read the times of a calendar feed: %w", err)
	}
	for _, p := range chosen.polls {
		slot, known := slots[p.ID]
		session := sessionOf(p, slot, s.AppURL, now)
		if chosen.named[p.ID] {
			session = session.tentative()
		}
		if !known || !session.Renderable() {
			continue
		}
		sessions = append(sessions, session)
	}
	return sessions, nil
}
