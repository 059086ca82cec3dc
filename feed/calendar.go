package feed

import (
	"context"
	"fmt"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

const (
	// RenderEvery is how old the answer for a feed may be: until then this process reads and
	// renders nothing of it again.
	RenderEvery = time.Minute
	// MaxAnswers is how often a feed is answered in that time.
	MaxAnswers = 60
	// CheckSignInEvery is how late the end of a sign-in ends a feed.
	CheckSignInEvery = time.Hour
	// maxReading is how many feeds a process reads and renders at once.
	maxReading = 4
)

// CodeRate (RateLimited) is the error of a feed that was asked for too often.
const CodeRate = "feed_rate"

// SignIns knows which sign-ins were ended.
type SignIns interface {
	// Revoked reports whether a sign-in of that time was ended since: the person was signed out
	// everywhere, disabled or deleted.
	Revoked(ctx context.Context, userID string, signedIn time.Time) (bool, error)
}

// Calendar is the answer for a feed.
type Calendar struct {
	// Tag names the sessions of the feed. The same sessions have the same tag in every process.
	Tag string
	// Text is the iCalendar object, of at most MaxBytes; nil for a caller who has it.
	Text []byte
}

// Calendar gives the feed of a secret, as it was at most RenderEvery ago. has reports whether the
// caller has the text of a tag, which is then not rendered. NotFound: there is no such feed,
// whether it was renewed, revoked, ended with its owner's sign-in or never made; the error does not
// name the secret. RateLimited with CodeRate: the feed was asked for too often. Another process
// may still answer for an ended feed that it read at most RenderEvery ago.
func (s *Service) Calendar(ctx context.Context, secret string, has func(tag string) bool) (Calendar, error) {
	hash, ok := hashOf(secret)
	if !ok {
		return Calendar{}, errNotFound()
	}
	if answer, known, err := s.kept.answer(hash, s.Now(), has); known {
		return answer, err
	}
	turn, err := s.turns.take(ctx, hash)
	if err != nil {
		return Calendar{}, err
	}
	defer s.turns.pass(hash, turn)
	if answer, known, err := s.kept.answer(hash, s.Now(), has); known { // read by who had the turn before
		return answer, err
	}
	return s.read(ctx, turn, hash, has)
}

// read answers from the store, and keeps the answer unless the feed ended during the turn.
func (s *Service) read(ctx context.Context, turn *turn, hash string, has func(tag string) bool) (Calendar, error) {
	before := s.kept.last(hash)
	owner, checked, err := s.owner(ctx, hash, before.checked)
	if fault.Is(err, fault.NotFound) {
		s.kept.forget(hash)
	}
	if err != nil {
		return Calendar{}, err
	}
	done, err := s.turns.reading(ctx)
	if err != nil {
		return Calendar{}, err
	}
	defer done()
	at := s.Now()
	sessions, err := s.sessions(ctx, owner)
	if err != nil {
		return Calendar{}, err
	}
	sessions = nearest(sessions, at)
	now := reading{tag: tagOf(sessions), at: at, checked: checked, answers: 1}
	if now.tag == before.tag {
		now.text = before.text
	}
	answer := Calendar{Tag: now.tag}
	if !has(now.tag) {
		if now.text == nil {
			now.text, err = Render(sessions)
			if err != nil {
				return Calendar{}, err
			}
		}
		now.rendered, answer.Text = true, now.text
	}
	turn.unlessEnded(func() { s.kept.keep(hash, now) })
	return answer, nil
}

// owner gives whose feed a secret is, and when their sign-in was checked last: now, unless it was
// at most CheckSignInEvery ago.
func (s *Service) owner(ctx context.Context, hash string, checked time.Time) (userID string, at time.Time, err error) {
	doc, err := s.Store.Get(ctx, secretPath(hash))
	if err != nil {
		return "", checked, fmt.Errorf("read the owner of a calendar feed: %w", err)
	}
	secret, now := store.Fields(doc.Data), s.Now()
	userID = secret.String(fieldOwner)
	if userID == "" {
		return "", checked, errNotFound()
	}
	if age := now.Sub(checked); s.SignIns == nil || age >= 0 && age < CheckSignInEvery {
		return userID, checked, nil
	}
	switch ended, err := s.SignIns.Revoked(ctx, userID, signedInAt(secret)); {
	case err != nil:
		return "", checked, fmt.Errorf("check the sign-in of a calendar feed's owner: %w", err)
	case ended:
		return "", checked, errNotFound()
	}
	return userID, now, nil
}

func errNotFound() error {
	return fault.New(fault.NotFound, "There is no such calendar feed. Make a new one in Quest Scheduler.")
}
