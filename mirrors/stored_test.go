package mirrors

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

// Of a calendar with more events than a full listing keeps in memory, the others are read where a
// page shows them, and none is missed where no page does.
func TestStored_MoreThanAreKept_AreReadAgain(t *testing.T) {
	t.Parallel()
	at := mirror.Place{AccountID: "acc_work", CalendarID: "work@example.test"}
	documents, err := memorystore.Open(mirror.Queries)
	if err != nil {
		t.Fatal(err)
	}
	known := &stored{origins: map[string]mirror.Event{}, copies: map[string]*mirror.Event{}}
	for i := range mostKept + 2 {
		event := mirror.Event{
			ID: fmt.Sprintf("evt_%05d", i), AccountID: at.AccountID, CalendarID: at.CalendarID, EventID: fmt.Sprint("e", i),
			Title: fmt.Sprint("Event ", i), Status: "confirmed",
		}
		switch {
		case i == 0:
			event.Status = cancelled
		case i == 1 || i == mostKept+1:
			event.Source = mirror.SourceCopy
		}
		known.add(event)
		if i < mostKept {
			continue
		}
		err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Set(mirror.EventPath(event.ID), mirror.EncodeEvent(event))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !known.cut || len(known.origins)+len(known.copies) != mostKept+1 || known.copies["e1"] == nil {
		t.Errorf("%d origins and %d copies are kept", len(known.origins), len(known.copies))
	}
	if beyond, isKnown := known.copies[fmt.Sprint("e", mostKept+1)]; !isKnown || beyond != nil {
		t.Error("a copy beyond is not known, or is kept")
	}
	if got := len(known.expected); got != mostKept+1 {
		t.Errorf("%d events are expected, want all but the cancelled one", got)
	}
	s := &Service{Store: documents}
	found, err := s.ofOrigins(t.Context(), known, at, []string{"e0", "e2", fmt.Sprint("e", mostKept), "new"})
	if err != nil || len(found) != 3 || found[fmt.Sprint("e", mostKept)].Title == "" || found["e2"].Title != "Event 2" {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestStored_LongTexts_AreNotKept(t *testing.T) {
	t.Parallel()
	known := &stored{origins: map[string]mirror.Event{}, copies: map[string]*mirror.Event{}}
	for i := range 5 {
		known.add(mirror.Event{EventID: fmt.Sprint("e", i), Description: strings.Repeat("x", mostText/4), Title: "Talk"})
	}
	if !known.cut || len(known.origins) != 3 || len(known.expected) != 5 {
		t.Errorf("%d of %d are kept", len(known.origins), len(known.expected))
	}
}
