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

	"questscheduler/fault"
)

// Where Google publishes the keys that it signs tokens with, as JSON Web Keys.
const (
	// FirebaseKeysURL is for the ID tokens of people.
	FirebaseKeysURL = "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
	// GoogleKeysURL is for the ID tokens of service accounts.
	GoogleKeysURL = "https://www.googleapis.com/oauth2/v3/certs"
)

// KeySource returns the public keys that tokens are verified with.
type KeySource interface {
	// Key returns the key of that id, ErrUnknownKey if the issuer has none, or
	// Unavailable.
	Key(ctx context.Context, id string) (*rsa.PublicKey, error)
}

// ErrUnknownKey means that the issuer has no key of that id.
var ErrUnknownKey = errors.New("the issuer has no key of that id")

const (
	// minFresh is the shortest time for which fetched keys are fresh, and the
	// shortest time between two fetches: invented key ids neither flood the issuer
	// nor wait for one that does not answer.
	minFresh = time.Minute
	// maxStale is how long expired keys are used while the issuer is down.
	maxStale     = time.Hour
	fetchTimeout = 10 * time.Second
	maxKeysBytes = 1 << 20
)

// HTTPKeys fetches keys from their issuer and caches them as long as Cache-Control
// or Expires allows. A key id that is not cached causes a fetch, since issuers sign
// with a new key as soon as it is published. It is safe for concurrent use;
// concurrent callers share one fetch.
type HTTPKeys struct {
	locate func(ctx context.Context) (address string, err error)
	client *http.Client
	now    func() time.Time

	fetching   singleflight.Group
	mu         sync.Mutex
	keys       map[string]*rsa.PublicKey
	freshUntil time.Time
	triedAt    time.Time // end of the last fetch
	failure    error     // of the last fetch
}

// NewHTTPKeys uses the keys at an address.
func NewHTTPKeys(address string, client *http.Client, now func() time.Time) *HTTPKeys {
	return &HTTPKeys{client: client, now: now, locate: func(context.Context) (string, error) { return address, nil }}
}

// NewIssuerKeys uses the keys that an issuer's OpenID configuration names.
func NewIssuerKeys(issuer string, client *http.Client, now func() time.Time) *HTTPKeys {
	k := &HTTPKeys{client: client, now: now}
	k.locate = func(ctx context.Context) (string, error) {
		var configuration struct {
			Keys string `json:"jwks_uri"`
		}
		_, err := k.get(ctx, strings.TrimRight(issuer, "/")+"/.well-known/openid-configuration", &configuration)
		return configuration.Keys, err
	}
	return k
}

// Key implements KeySource.
func (k *HTTPKeys) Key(ctx context.Context, id string) (*rsa.PublicKey, error) {
	if key, settled, err := k.cached(id); settled {
		return key, err
	}
	_, failure, _ := k.fetching.Do("", func() (any, error) {
		if _, settled, _ := k.cached(id); settled { // another caller has just fetched them
			return nil, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		return nil, k.fetch(ctx)
	})
	key, settled, err := k.cached(id)
	if !settled && failure != nil {
		return nil, errKeys(failure)
	}
	return key, err
}

func errKeys(failure error) error {
	return fault.Wrap(fault.Unavailable, failure, "The keys that sign-ins are checked with cannot be had. Try again shortly.")
}

// cached finds a key by id without a fetch; settled is false if the keys must be
// fetched first. Within minFresh of a fetch there is no other: an id that is not among
// the keys is unknown if it succeeded, and otherwise its failure counts.
func (k *HTTPKeys) cached(id string) (key *rsa.PublicKey, settled bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, now := k.keys[id], k.now()
	if key == nil {
		err = ErrUnknownKey
	}
	elapsed := now.Sub(k.triedAt)
	recent := elapsed >= 0 && elapsed < minFresh // negative: the clock was set back
	switch fresh := now.Before(k.freshUntil); {
	case fresh && (key != nil || recent && k.failure == nil):
		return key, true, err
	case !recent || k.failure == nil || !now.Before(k.freshUntil.Add(maxStale)):
		return nil, false, err
	case key == nil: // it may be newer than the cached keys
		return nil, true, errKeys(k.failure)
	default:
		return key, true, nil
	}
}

// fetch replaces the keys, or records why it could not.
func (k *HTTPKeys) fetch(ctx context.Context) error {
	keys, lifetime, err := k.download(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.triedAt, k.failure = k.now(), err
	if err == nil {
		k.keys, k.freshUntil = keys, k.triedAt.Add(max(lifetime, minFresh))
	}
	return err
}

func (k *HTTPKeys) download(ctx context.Context) (map[string]*rsa.PublicKey, time.Duration, error) {
	address, err := k.locate(ctx)
	if err != nil {
		return nil, 0, err
	}
	var set jose.JSONWebKeySet
	header, err := k.get(ctx, address, &set)
	if err != nil {
		return nil, 0, err
	}
	keys := map[string]*rsa.PublicKey{}
	for _, key := range set.Keys {
		if public, ok := key.Key.(*rsa.PublicKey); ok && key.KeyID != "" {
			keys[key.KeyID] = public
		}
	}
	if len(keys) == 0 {
		return nil, 0, errors.New("the issuer publishes no RSA key")
	}
	return keys, lifetime(header, k.now()), nil
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
		return nil, fmt.Errorf("get %s: status %d", address, response.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxKeysBytes)).Decode(into); err != nil {
		return nil, fmt.Errorf("get %s: %w", address, err)
	}
	return response.Header, nil
}

// lifetime is how long a response stays fresh (RFC 9111): max-age less its age,
// else until Expires.
func lifetime(header http.Header, now time.Time) time.Duration {
	for directive := range strings.SplitSeq(header.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32)
		if !strings.EqualFold(name, "max-age") || err != nil {
			continue
		}
		if age, err := strconv.ParseInt(header.Get("Age"), 10, 32); err == nil {
			seconds -= age
		}
		return time.Duration(seconds) * time.Second
	}
	if expires, err := http.ParseTime(header.Get("Expires")); err == nil {
		return expires.Sub(now)
	}
	return 0
}
