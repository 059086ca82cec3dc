package poll_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// asking is a reader that counts the documents of its queries.
type asking struct {
	store.Reader
	documents int
}

func (r *asking) Query(ctx context.Context, asked store.Bound) ([]store.Document, error) {
	docs, err := r.Reader.Query(ctx, asked)
	r.documents += len(docs)
	return docs, err
}

// A client of the web app may write any number of slots below a poll that names others.
func TestLoadSlots_OfMoreThanTenThousand_ReadsNoMore(t *testing.T) {
	t.Parallel()
	documents := open(t)
	fill := func(first, end int) {
		t.Helper()
		err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			for i := first; i < end; i++ {
				start := moment.Add(time.Duration(i) * time.Minute)
				slot := poll.Slot{ID: fmt.Sprintf("s%05d", i), Start: start, End: start.Add(time.Minute)}
				if err := tx.Set(poll.SlotPath("p", slot.ID), poll.EncodeSlot(slot)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(want int) {
		t.Helper()
		for name, load := range map[string]func(reader store.Reader) ([]poll.Slot, error){
			"slots": func(reader store.Reader) ([]poll.Slot, error) { return poll.LoadSlots(t.Context(), reader, "p") },
			"choices": func(reader store.Reader) ([]poll.Slot, error) {
				slots, _, err := poll.LoadChoices(t.Context(), reader, poll.Poll{ID: "p"})
				return slots, err
			},
		} {
			reader := &asking{Reader: documents}
			slots, err := load(reader)
			if err != nil || len(slots) != want || reader.documents != want {
				t.Errorf("%s: %d of %d documents, want %d (%v)", name, len(slots), reader.documents, want, err)
			}
		}
	}
	for first := 0; first < 10_000; first += 400 {
		fill(first, first+400)
	}
	want(10_000)
	fill(10_000, 10_003)
	want(10_000)
}

// Clients of the web app write start and end alone, and know no whole days.
func TestDecodeSlot_WholeDayEditedByTheApp_IsTimed(t *testing.T) {
	t.Parallel()
	at := func(f rules.Fingerprint) []store.Update {
		return []store.Update{poll.Set("start", rules.Instant(f.StartTime())), poll.Set("end", rules.Instant(f.EndTime()))}
	}
	evening := rules.Timed(ten.Add(9*time.Hour), noon.Add(10*time.Hour))
	days := rules.Fingerprint{Start: day.Start + 86400_000, End: day.End + 2*86400_000, AllDay: true}
	later := evening
	later.Start = day.Start
	for name, c := range map[string]struct {
		written []store.Update
		want    rules.Fingerprint
	}{
		"to an evening":           {at(evening), evening},
		"to another end":          {at(later), later},
		"as it was":               {at(day), day},
		"by the server, likewise": {poll.MoveSlot(days), days},
		"to its dates alone":      {[]store.Update{poll.Set("start", store.Delete), poll.Set("end", store.Delete)}, day},
	} {
		data := stored(t, poll.EncodeSlot(poll.SlotAt("s1", day)), c.written...)
		slot := poll.DecodeSlot(store.Document{Path: poll.SlotPath("p1", "s1"), Data: data})
		same(t, name, slot.Fingerprint(), c.want)
		again := poll.DecodeSlot(store.Document{Path: poll.SlotPath("p1", "s1"), Data: stored(t, poll.EncodeSlot(slot))})
		same(t, name+", written again", again, slot)
		_, dated := poll.EncodeSlot(slot)["startDate"]
		same(t, name+", dates written again", dated, c.want.AllDay)
	}
}
