package cloudtasks

import (
	"crypto/rand"
	"net/http"
	"testing"
	"time"

	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/roundtrip"
)

// storedDead reads back the dead letter of a task.
func storedDead(t *testing.T, e envelope, attempt int, reason string, at time.Time) letter {
	t.Helper()
	documents, err := memorystore.Open(Queries)
	if err != nil {
		t.Fatal(err)
	}
	q := &Queue{with: Options{Store: documents, Now: func() time.Time { return at }}}
	if err := q.saveDead(t.Context(), e, attempt, reason); err != nil {
		t.Fatal(err)
	}
	document, err := documents.Get(t.Context(), store.Doc(collection, e.ref()))
	if err != nil {
		t.Fatal(err)
	}
	read, err := readLetter(document)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestDeadLetter_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[queue.DeadLetter]{
		Through: func(d queue.DeadLetter) queue.DeadLetter {
			e := envelope{Task: queue.Task{Kind: d.Kind, Name: d.Name, Payload: d.Payload}, id: "id", chain: "chain", turn: 1}
			return storedDead(t, e, d.Attempt, d.Reason, d.At).DeadLetter
		},
		Fixed: map[string]any{"ID": "id-chain-1"},
	})
	const startsAnew = "a retried dead letter starts anew"
	roundtrip.Check(t, roundtrip.Codec[envelope]{
		Through: func(e envelope) envelope { return storedDead(t, e, 1, "", time.Now()).task },
		Lost:    map[string]string{"NotBefore": startsAnew, "attempts": startsAnew, "since": startsAnew},
	})
}

func TestEnvelope_EveryField_IsDelivered(t *testing.T) {
	t.Parallel()
	q := &Queue{with: Options{NewID: rand.Text, Now: time.Now}}
	roundtrip.Check(t, roundtrip.Codec[envelope]{
		Through: func(e envelope) envelope {
			header := http.Header{}
			for name, value := range e.headers() {
				header.Set(name, value)
			}
			read, _ := q.receive(e.Kind, header, e.Payload)
			return read
		},
		Fixed: map[string]any{"id": "id", "chain": "chain"},
	})
}
