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

// buried is a task as its dead letter is read.
func buried(t *testing.T, h handed, attempt int, reason string, at time.Time) letter {
	t.Helper()
	documents, err := memorystore.Open(Queries)
	if err != nil {
		t.Fatal(err)
	}
	q := &Queue{with: Options{Store: documents, Now: func() time.Time { return at }}}
	if err := q.keep(t.Context(), h, attempt, reason); err != nil {
		t.Fatal(err)
	}
	document, err := documents.Get(t.Context(), store.Doc(collection, h.ref()))
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
			h := handed{Task: queue.Task{Kind: d.Kind, Name: d.Name, Payload: d.Payload}, id: "id", chain: "chain", turn: 1}
			return buried(t, h, d.Attempt, d.Reason, d.At).DeadLetter
		},
		Fixed: map[string]any{"ID": "id-chain-1"},
	})
	const anew = "a person who puts the task back has it begin anew"
	roundtrip.Check(t, roundtrip.Codec[handed]{
		Through: func(h handed) handed { return buried(t, h, 1, "", time.Now()).was },
		Lost:    map[string]string{"NotBefore": anew, "attempts": anew, "since": anew},
	})
}

func TestHanded_EveryField_IsDelivered(t *testing.T) {
	t.Parallel()
	q := &Queue{with: Options{NewID: rand.Text, Now: time.Now}}
	roundtrip.Check(t, roundtrip.Codec[handed]{
		Through: func(h handed) handed {
			header := http.Header{}
			for name, value := range h.headers() {
				header.Set(name, value)
			}
			read, _ := q.handedFrom(h.Kind, header, h.Payload)
			return read
		},
		Fixed: map[string]any{"id": "id", "chain": "chain"},
	})
}
