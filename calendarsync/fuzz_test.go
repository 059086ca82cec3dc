package calendarsync_test

import (
	"reflect"
	"strings"
	"testing"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
)

// running is the test that runs now: a world outlives the inputs that are tried
// on it.
type running struct{ worldtest.TB }

// standsAs is all that a forged push or task could have changed.
func standsAs(w *worldtest.World) []any {
	return []any{w.Polls(), w.Index(), w.Intents(), w.Calendar("gm"), w.Watches(), w.Snapshots(), w.Depths()}
}

// FuzzPush: no push is taken but one of the channel there is, with its token and
// its resource; any other is refused in the same words, and does nothing.
func FuzzPush(f *testing.F) {
	now := &running{f}
	w := worldtest.New(now, worldtest.Options{})
	w.Finalised()
	w.RunDue()
	watches := w.Watches()
	if len(watches) != 1 {
		f.Fatalf("there are %d watch channels", len(watches))
	}
	channel, token := watches[0].Path.ID(), w.Secrets()[0]
	resource := store.Fields(watches[0].Data).String("resourceId")
	f.Add(channel, token, resource, "sync")
	f.Add(channel, token[:len(token)-1], resource, "exists")
	f.Add(channel, token, resource+"x", "exists")
	f.Add(channel, token, "", "not_exists")
	f.Add(strings.ToUpper(channel), token, resource, "exists")
	f.Add("a/b", token, resource, "exists")
	f.Add("..", token, resource, "sync")
	f.Add("__x__", store.Fields(watches[0].Data).String("tokenHash"), resource, "")
	before := standsAs(w)
	f.Fuzz(func(t *testing.T, channelID, given, resourceID, state string) {
		now.TB = t
		genuine := channelID == channel && given == token && resourceID == resource
		if genuine && state != "sync" {
			return // it hands a sync over, as other tests have it
		}
		err := w.Watcher.Push(t.Context(), calendarsync.Push{
			ChannelID: channelID, Token: given, ResourceID: resourceID, State: state, Trace: "t",
		})
		if genuine != (err == nil) || err != nil && !fault.Is(err, fault.Unauthenticated) {
			t.Fatalf("channel %q, token %q, resource %q: %v", channelID, given, resourceID, err)
		}
		if err != nil && (len(given) > 8 && strings.Contains(err.Error(), given) || strings.Contains(err.Error(), token)) {
			t.Fatalf("the refusal tells a token: %v", err)
		}
		if after := standsAs(w); !reflect.DeepEqual(after, before) {
			t.Fatalf("a push that asks for nothing changed\n%v\nto\n%v", before, after)
		}
	})
}

// FuzzWakes: whatever id is woken, each of the handlers ends: nothing waits for what never
// comes, nothing panics, and no invariant is broken.
func FuzzWakes(f *testing.F) {
	now := &running{f}
	w := worldtest.New(now, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.RunDue()
	for _, seed := range []string{
		``, `null`, `{}`, `a/b`, `a/b/c`, `.`, `..`, `__x__`, pollID, w.CalendarKey("gm"), pollID + "/1", "unknown", "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, id []byte) {
		now.TB = t
		for _, kind := range w.Outbox.Kinds() {
			if again, err := w.Outbox.Run(t.Context(), kind, string(id)); err != nil || !again.IsZero() {
				t.Fatalf("%s: an id that names nothing due is run again at %v: %v", kind, again, err)
			}
		}
		if problems := w.Problems(); len(problems) > 0 {
			t.Fatal(problems)
		}
	})
}
