package api_test

import (
	"context"
	"net/http"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// editCall is a command that counts.
func editCall(p pollJSON) call {
	return call{as: "gm", method: "PATCH", path: "/v1/polls/" + p.ID, body: map[string]any{"allow_link_sharing": true}}
}

// One that is answered 503 and finished by the drain took effect: it counts. Three
// commands may be sent at once.
func TestCommands_FinishedByTheDrain_Count(t *testing.T) {
	t.Parallel()
	w := newWorld(t, commanding(newStillClock()))
	made := w.newPoll(nil)
	w.loseInsert(finaliseCall(made))
	w.finishInserts(made.ID)
	w.want(http.StatusOK, editCall(made), nil)
	w.want(http.StatusOK, editCall(made), nil)
	w.want(http.StatusTooManyRequests, editCall(made), nil)
}

// Nothing is under way where the store fails before anything began.
func TestCommands_UnavailableBeforeAnyIntent_Count(t *testing.T) {
	t.Parallel()
	w := newWorld(t, commanding(newStillClock()))
	made := w.newPoll(nil)
	w.accounts.refuse = func(context.Context) error {
		return fault.New(fault.Unavailable, "The store does not answer. Try again in a moment.")
	}
	for range 3 {
		w.want(http.StatusServiceUnavailable, finaliseCall(made), nil)
	}
	w.want(http.StatusTooManyRequests, finaliseCall(made), nil)
}

// A try that goes on with a request of the same key and finds nothing to go on with
// begins anew: within the bound it counts, beyond it is refused.
func TestCommands_AgainThatBeginsAnew_Counts(t *testing.T) {
	t.Parallel()
	for name, spent := range map[string]bool{"within the bound": false, "beyond it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, commanding(newStillClock()))
			made := w.newPoll(nil)
			finalise := keyed("k1", finaliseCall(made))
			w.loseInsert(finalise) // the first
			w.want(http.StatusOK, call{as: "gm", method: "POST", path: "/v1/polls/" + made.ID + "/cancel"}, nil)
			if spent {
				w.want(http.StatusOK, editCall(made), nil)
				w.want(http.StatusTooManyRequests, finalise, nil)
				return
			}
			w.send(finalise) // the third, whatever it is answered
			w.want(http.StatusTooManyRequests, editCall(made), nil)
		})
	}
}

// Whether a finalisation still runs is not known while the store does not answer.
func TestCommands_UnreadableBeyondTheBound_AreUnavailable(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "k1"} {
		w := newWorld(t, commanding(newStillClock()))
		made := w.newPoll(nil)
		finalise := finaliseCall(made)
		if key != "" {
			finalise = keyed(key, finalise)
		}
		w.loseInsert(finalise)
		w.want(http.StatusOK, editCall(made), nil)
		w.want(http.StatusOK, editCall(made), nil)
		w.store.reading = func(_ context.Context, path store.Path) error {
			if path == poll.Path(made.ID) || path.Collection() == "idempotencyKeys" {
				return fault.New(fault.Unavailable, "The store does not answer. Try again in a moment.")
			}
			return nil
		}
		if got := w.want(http.StatusServiceUnavailable, finalise, nil); got.header.Get("Retry-After") == "" {
			t.Errorf("key %q: answered without Retry-After", key)
		}
		w.store.reading = nil
		w.want(http.StatusOK, finalise, nil)
	}
}
