package calendarsync_test

import (
	"reflect"
	"strings"
	"testing"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
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
		err := w.Watcher.Push(t.Context(), calendarsync.Push{ChannelID: channelID, Token: given, ResourceID: resourceID, State: state, Trace: "t"})
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

// FuzzTasks: whatever stands in a task's payload, each of the three handlers is
// done with it or refuses it: nothing waits for what never comes, nothing
// panics, and no invariant is broken.
func FuzzTasks(f *testing.F) {
	now := &running{f}
	w := worldtest.New(now, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.RunDue()
	for _, seed := range []string{
		``, `null`, `{}`, `[]`, `{"id":""}`, `{"id":"a/b"}`, `{"id":7}`, `{"key":"a/b","gen":1}`, `{"key":"..","cause":"push"}`, `{"id":"__x__"}`,
		`{"id":"` + pollID + `","trace":"t"}`, `{"key":"` + w.CalendarKey("gm") + `","gen":-1}`, `{"key":"unknown","gen":99999999999999999999}`, "{\"id\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	handlers := map[string]queue.Handler{
		calendars.SyncKind: w.Outbox.Handler(calendars.SyncKind), scheduler.KindIntent: w.Outbox.Handler(scheduler.KindIntent), poll.AnnounceKind: w.Outbox.Handler(poll.AnnounceKind),
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		now.TB = t
		for kind, handle := range handlers {
			verdict := handle(t.Context(), queue.Delivery{Payload: payload, Attempt: 1})
			// An id that is no part of a path is the queue's to give up.
			if verdict.Outcome == queue.Retry {
				t.Fatalf("%s: a payload that no retry fixes is tried again: %v", kind, verdict.Err)
			}
			if verdict.Outcome == queue.Permanent && verdict.Err == nil {
				t.Fatalf("%s: refused, and nobody knows why", kind)
			}
		}
		if problems := w.Problems(); len(problems) > 0 {
			t.Fatal(problems)
		}
	})
}
