package signin_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/signin"
	"questscheduler/internal/test/tokentest"
)

// newKeys are the keys of an issuer that serves them with a header.
func newKeys(t *testing.T, header http.Header) (*tokentest.Issuer, *signin.HTTPKeys, *clock) {
	t.Helper()
	issuer, c := tokentest.NewIssuer(t), &clock{at: noon}
	issuer.Header = header
	return issuer, signin.NewHTTPKeys(issuer.URL+"/jwks", http.DefaultClient, c.now), c
}

func TestHTTPKeys_AreCachedAsLongAsTheirHeadersSay(t *testing.T) {
	t.Parallel()
	for what, row := range map[string]struct {
		header http.Header
		kept   time.Duration
	}{
		"max-age":         {http.Header{"Cache-Control": {"public, max-age=3600, must-revalidate"}}, time.Hour},
		"max-age and age": {http.Header{"Cache-Control": {"max-age=3600"}, "Age": {"600"}}, 50 * time.Minute},
		"Expires":         {http.Header{"Expires": {noon.Add(2 * time.Hour).Format(http.TimeFormat)}}, 2 * time.Hour},
		"max-age first": {
			http.Header{"Cache-Control": {"max-age=600"}, "Expires": {noon.Add(2 * time.Hour).Format(http.TimeFormat)}},
			10 * time.Minute,
		},
		"nothing":           {http.Header{}, time.Minute},
		"what no number is": {http.Header{"Cache-Control": {"max-age=soon"}}, time.Minute},
		"no-store":          {http.Header{"Cache-Control": {"no-store"}}, time.Minute},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			issuer, keys, c := newKeys(t, row.header)
			for _, step := range []struct {
				after   time.Duration
				fetched int
			}{{0, 1}, {row.kept - time.Second, 1}, {row.kept, 2}} {
				c.at = noon.Add(step.after)
				if _, err := keys.Key(t.Context(), "first"); err != nil {
					t.Fatal(err)
				}
				if got := issuer.Fetched(); got != step.fetched {
					t.Errorf("after %v they were fetched %d times, want %d", step.after, got, step.fetched)
				}
			}
		})
	}
}

func TestHTTPKeys_RotatedKey_IsFoundBeforeTheOldExpire(t *testing.T) {
	t.Parallel()
	issuer, keys, c := newKeys(t, http.Header{"Cache-Control": {"max-age=21600"}})
	if _, err := keys.Key(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	issuer.Rotate("second")
	c.at = noon.Add(2 * time.Minute)
	if _, err := keys.Key(t.Context(), "second"); err != nil {
		t.Errorf("the new key: %v", err)
	}
	if _, err := keys.Key(t.Context(), "first"); !errors.Is(err, signin.ErrUnknownKey) {
		t.Errorf("the old key: %v", err)
	}
}

func TestHTTPKeys_UnknownIDs_AreFetchedOnceAMinute(t *testing.T) {
	t.Parallel()
	issuer, keys, c := newKeys(t, http.Header{"Cache-Control": {"max-age=21600"}})
	for range 100 {
		if _, err := keys.Key(t.Context(), "invented"); !errors.Is(err, signin.ErrUnknownKey) {
			t.Fatal(err)
		}
	}
	c.at = noon.Add(time.Minute)
	for range 100 {
		if _, err := keys.Key(t.Context(), "another"); !errors.Is(err, signin.ErrUnknownKey) {
			t.Fatal(err)
		}
	}
	if got := issuer.Fetched(); got != 2 {
		t.Errorf("they were fetched %d times, want once a minute", got)
	}
	issuer.Rotate("second")
	c.at = noon.Add(-time.Hour) // the clock is set back
	if _, err := keys.Key(t.Context(), "second"); err != nil {
		t.Errorf("a new key: %v", err)
	}
}

func TestHTTPKeys_WhileTheIssuerIsDown(t *testing.T) {
	t.Parallel()
	issuer, keys, c := newKeys(t, http.Header{"Cache-Control": {"max-age=3600"}})
	issuer.SetDown(true)
	if _, err := keys.Key(t.Context(), "first"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("before the keys were ever had: %v", err)
	}
	issuer.SetDown(false)
	if _, err := keys.Key(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	issuer.SetDown(true)
	for _, row := range []struct {
		after time.Duration
		good  bool
	}{{90 * time.Minute, true}, {2*time.Hour - time.Second, true}, {2*time.Hour + time.Minute, false}} {
		c.at = noon.Add(row.after)
		if _, err := keys.Key(t.Context(), "first"); (err == nil) != row.good || err != nil && !fault.Is(err, fault.Unavailable) {
			t.Errorf("%v after they were fetched: %v", row.after, err)
		}
	}
}

// Each row is when unknown ids are asked for during an outage. They may be of keys that the issuer
// has published since, so none is refused. One fetch is tried a minute; a cached key needs none.
func TestHTTPKeys_UnknownIDsDuringAnOutage_AreFetchedOnceAMinute(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{
		"while the keys are good": 30 * time.Minute,
		"past their time":         90 * time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issuer, keys, c := newKeys(t, http.Header{"Cache-Control": {"max-age=3600"}})
			if _, err := keys.Key(t.Context(), "first"); err != nil {
				t.Fatal(err)
			}
			issuer.SetDown(true)
			for minute := range 2 {
				c.at = noon.Add(after + time.Duration(minute)*time.Minute)
				for i := range 100 {
					if _, err := keys.Key(t.Context(), "invented-"+strconv.Itoa(i)); !fault.Is(err, fault.Unavailable) {
						t.Fatalf("number %d: %v", i, err)
					}
				}
				if _, err := keys.Key(t.Context(), "first"); err != nil {
					t.Errorf("the key that is kept: %v", err)
				}
				if got, want := issuer.Fetched(), 2+minute; got != want {
					t.Errorf("in minute %d they were fetched %d times in all, want %d", minute, got, want)
				}
			}
			issuer.SetDown(false)
			issuer.Rotate("second")
			c.at = c.at.Add(time.Minute)
			if _, err := keys.Key(t.Context(), "second"); err != nil {
				t.Errorf("once it is back: %v", err)
			}
			if _, err := keys.Key(t.Context(), "invented"); !errors.Is(err, signin.ErrUnknownKey) {
				t.Errorf("an id of no key, once it is back: %v", err)
			}
		})
	}
}

func TestHTTPKeys_ConcurrentCallers_FetchOnce(t *testing.T) {
	t.Parallel()
	issuer, keys, _ := newKeys(t, http.Header{"Cache-Control": {"max-age=3600"}})
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			if _, err := keys.Key(context.Background(), "first"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := issuer.Fetched(); got != 1 {
		t.Errorf("they were fetched %d times", got)
	}
}

func TestHTTPKeys_NotAKeySet_IsUnavailable(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	keys := signin.NewHTTPKeys(issuer.URL+"/elsewhere", http.DefaultClient, time.Now) // answers with a document that holds none
	if _, err := keys.Key(t.Context(), "first"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}
