package signin

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"

	"questscheduler/internal/fault"
)

// Where Google publishes the keys that it signs tokens with, as JSON Web Keys.
const (
	// FirebaseKeysURL is for the ID tokens of people.
	FirebaseKeysURL = "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
	// GoogleKeysURL is for the ID tokens of service accounts.
	GoogleKeysURL = "https://www.googleapis.com/oauth2/v3/certs"
)

// KeySource gives the public keys that tokens are verified with.
type KeySource interface {
	// Key gives the key of that id. ErrUnknownKey: the issuer has none; any
	// other error is Unavailable.
	Key(ctx context.Context, id string) (*rsa.PublicKey, error)
}

// ErrUnknownKey tells that an issuer has no key of an id.
var ErrUnknownKey = errors.New("the issuer has no key of that id")

// How keys are kept and fetched.
const (
	// keysLeast is for how long an answer is taken as good at least, whatever
	// its headers say, and how long after an attempt to fetch them the next one is
	// made: who invents ids has us ask Google no more often, nor wait for a Google
	// that does not answer.
	keysLeast = time.Minute
	// keysStale is how long beyond their time keys are still taken where they
	// cannot be fetched.
	keysStale = time.Hour
	// keysPatience is how long a fetch may take.
	keysPatience = 10 * time.Second
	maxKeys      = 1 << 20 // bytes of an answer
)

// HTTPKeys fetches keys from where their issuer publishes them, and keeps them
// for as long as the answer's Cache-Control or Expires says. A key that is not
// among them is looked for again, since issuers sign with a new one as soon as
// it is published. It is safe for concurrent use; many who need the keys at once
// fetch them once.
type HTTPKeys struct {
	locate func(ctx context.Context) (string, error)
	client *http.Client
	now    func() time.Time

	fetching singleflight.Group
	mu       sync.Mutex
	keys     map[string]*rsa.PublicKey
	tried    time.Time // when a fetch last ended, however it did
	failure  error     // what it failed by; nil where it went well
	fresh    time.Time // until when the keys are good
	stale    time.Time // until when they are taken where they cannot be fetched
}

var _ KeySource = (*HTTPKeys)(nil)

// NewHTTPKeys gives the keys at an address.
func NewHTTPKeys(address string, client *http.Client, now func() time.Time) *HTTPKeys {
	return &HTTPKeys{client: client, now: now, locate: func(context.Context) (string, error) { return address, nil }}
}

// NewIssuerKeys gives the keys of an issuer, which says in its OpenID
// configuration where they are.
func NewIssuerKeys(issuer string, client *http.Client, now func() time.Time) *HTTPKeys {
	k := &HTTPKeys{client: client, now: now}
	k.locate = func(ctx context.Context) (string, error) {
		var says struct {
			Keys string `json:"jwks_uri"`
		}
		_, err := k.get(ctx, strings.TrimRight(issuer, "/")+"/.well-known/openid-configuration", &says)
		return says.Keys, err
	}
	return k
}

// Key implements KeySource.
func (k *HTTPKeys) Key(ctx context.Context, id string) (*rsa.PublicKey, error) {
	if key, settled, err := k.kept(id); settled {
		return key, err
	}
	_, failure, _ := k.fetching.Do("", func() (any, error) {
		if _, settled, _ := k.kept(id); settled { // somebody fetched them while this one came here
			return nil, nil
		}
		patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), keysPatience)
		defer cancel()
		return nil, k.try(patient)
	})
	key, settled, err := k.kept(id)
	if !settled && failure != nil {
		return nil, notHad(failure)
	}
	return key, err
}

// notHad is what callers are told where keys cannot be fetched.
func notHad(failure error) error {
	return fault.Wrap(fault.Unavailable, failure, "The keys that sign-ins are checked with cannot be had. Try again shortly.")
}

// kept gives the key of an id as far as it is known without a fetch; settled is
// false where the keys are to be fetched first. For a while after an attempt the
// next one is not made, whether that one went well or not: while keys are good an
// id that is not among them is unknown, and while they are past their time what
// the attempt failed by stands.
func (k *HTTPKeys) kept(id string) (key *rsa.PublicKey, settled bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, now := k.keys[id], k.now()
	if key == nil {
		err = ErrUnknownKey
	}
	passed := now.Sub(k.tried)
	recent := passed >= 0 && passed < keysLeast // tried later than now: the clock was set back
	switch {
	case now.Before(k.fresh):
		return key, key != nil || recent, err
	case !recent || k.failure == nil || !now.Before(k.stale):
		return nil, false, err
	case key == nil: // it may be newer than what is kept
		return nil, true, notHad(k.failure)
	default:
		return key, true, nil
	}
}

// try fetches the keys, and notes when that was and how it went.
func (k *HTTPKeys) try(ctx context.Context) error {
	err := k.fetch(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried, k.failure = k.now(), err
	return err
}

func (k *HTTPKeys) fetch(ctx context.Context) error {
	address, err := k.locate(ctx)
	if err != nil {
		return err
	}
	var set jose.JSONWebKeySet
	header, err := k.get(ctx, address, &set)
	if err != nil {
		return err
	}
	keys := map[string]*rsa.PublicKey{}
	for _, key := range set.Keys {
		if public, ok := key.Key.(*rsa.PublicKey); ok && key.KeyID != "" {
			keys[key.KeyID] = public
		}
	}
	if len(keys) == 0 {
		return errors.New("the issuer publishes no RSA key")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	k.keys, k.fresh = keys, now.Add(max(freshFor(header, now), keysLeast))
	k.stale = k.fresh.Add(keysStale)
	return nil
}

// get reads a JSON document.
func (k *HTTPKeys) get(ctx context.Context, address string, into any) (http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer of keys answers %d", response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxKeys))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("what the issuer of keys answers cannot be read: %w", err)
	}
	return response.Header, nil
}

// freshFor is how long an answer says that it is good: max-age less the age that
// it has already, or else until Expires.
func freshFor(header http.Header, now time.Time) time.Duration {
	for part := range strings.SplitSeq(header.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32)
		if !strings.EqualFold(name, "max-age") || err != nil {
			continue
		}
		age, err := strconv.ParseInt(header.Get("Age"), 10, 32)
		if err != nil {
			age = 0
		}
		return time.Duration(seconds-age) * time.Second
	}
	if until, err := http.ParseTime(header.Get("Expires")); err == nil {
		return until.Sub(now)
	}
	return 0
}
