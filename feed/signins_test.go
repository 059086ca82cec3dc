package feed_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/feed"
	"questscheduler/internal/store"
)

// signIns knows until when sign-ins of people were ended.
type signIns struct {
	ended  map[string]time.Time
	asked  int
	failed error
}

func (s *signIns) Revoked(_ context.Context, userID string, signedIn time.Time) (bool, error) {
	s.asked++
	return signedIn.Before(s.ended[userID]), s.failed
}

// checked is a service that checks sign-ins, and the secret of ana, who signed in an hour ago.
func checked(t *testing.T) (*feed.Service, *counting, *signIns, string) {
	t.Helper()
	s, documents := newService(t)
	known := &signIns{ended: map[string]time.Time{}}
	s.SignIns = known
	address, err := s.Renew(t.Context(), "ana", now.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return s, documents, known, address[len(address)-43-len(feed.Extension) : len(address)-len(feed.Extension)]
}

func TestCalendar_SignInEnded_EndsWithinAnHour(t *testing.T) {
	t.Parallel()
	s, _, known, secret := checked(t)
	if _, err := s.Calendar(t.Context(), secret, each); err != nil {
		t.Fatal(err)
	}
	calendarOf(t, s, secret) // read again for its text, at once
	known.ended["ana"] = now.Add(-time.Hour + time.Second)
	known.ended["gm"] = now.AddDate(1, 0, 0)
	for range 59 {
		pass(s, time.Minute)
		calendarOf(t, s, secret)
	}
	if known.asked != 1 {
		t.Errorf("asked %d times within an hour", known.asked)
	}
	pass(s, time.Minute)
	for range 2 {
		if _, err := s.Calendar(t.Context(), secret, each); !fault.Is(err, fault.NotFound) ||
			err.Error() != "There is no such calendar feed. Make a new one in Quest Scheduler." {
			t.Errorf("after an hour: %v", err)
		}
	}
	known.ended["ana"] = now.Add(-time.Hour) // enabled again, and signed in since
	calendarOf(t, s, secret)
}

func TestCalendar_ClockSetBack_ChecksTheSignIn(t *testing.T) {
	t.Parallel()
	s, _, known, secret := checked(t)
	pass(s, 24*time.Hour)
	calendarOf(t, s, secret)
	known.ended["ana"] = now
	pass(s, -24*time.Hour)
	if _, err := s.Calendar(t.Context(), secret, each); !fault.Is(err, fault.NotFound) {
		t.Errorf("a check of a time to come counts: %v", err)
	}
}

func TestCalendar_EndedSignInOfARenewal_EndsIt(t *testing.T) {
	t.Parallel()
	s, _, known, _ := checked(t)
	known.ended["ana"] = now.Add(time.Hour)
	pass(s, 2*time.Hour)
	secret := renewed(t, s, "ana") // by a sign-in of now
	calendarOf(t, s, secret)
	if known.asked != 1 {
		t.Errorf("asked %d times", known.asked)
	}
}

func TestCalendar_OldSecret_HasTheTimeOfItsMaking(t *testing.T) {
	t.Parallel()
	s, documents, known, secret := checked(t)
	err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(secretDoc(t, documents), store.Set("signedInAt", store.Delete))
	})
	if err != nil {
		t.Fatal(err)
	}
	known.ended["ana"] = now
	calendarOf(t, s, secret)
	known.ended["ana"] = now.Add(time.Second)
	pass(s, feed.CheckSignInEvery)
	if _, err := s.Calendar(t.Context(), secret, none); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
}

// secretDoc is where the secret of ana is.
func secretDoc(t *testing.T, documents store.Store) store.Path {
	t.Helper()
	person, err := documents.Get(t.Context(), store.Doc("feedPeople", "ana"))
	if err != nil {
		t.Fatal(err)
	}
	return store.Doc("feedSecrets", store.Fields(person.Data).String("hash"))
}

func TestCalendar_SignInsNotKnown_IsUnavailable(t *testing.T) {
	t.Parallel()
	s, documents, known, secret := checked(t)
	away := fault.Wrap(fault.Unavailable, errors.New("no answer"), "Firebase does not answer. Try again shortly.")
	known.failed = away
	if _, err := s.Calendar(t.Context(), secret, none); !errors.Is(err, away) || documents.queries.Load() != 0 {
		t.Errorf("%v after %d queries", err, documents.queries.Load())
	}
	known.failed = nil
	calendarOf(t, s, secret)
	known.failed = away
	pass(s, feed.CheckSignInEvery-time.Second)
	calendarOf(t, s, secret)
	pass(s, feed.RenderEvery)
	if _, err := s.Calendar(t.Context(), secret, none); !fault.Is(err, fault.Unavailable) {
		t.Errorf("an hour later: %v", err)
	}
	known.failed = nil
	calendarOf(t, s, secret)
}
