package main

import (
	"io"
	"testing"
)

func TestEdits_AreAllShownAndAnnounced(t *testing.T) {
	t.Parallel()
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := editsOf(t.Context(), r, t.TempDir(), 3, 7); err != nil {
		t.Fatal(err)
	}
	if poll, message := r.known["edit_to_poll_p99"], r.known["edit_to_message_p99"]; poll <= 0 || message < poll {
		t.Errorf("shown after %v ms, announced after %v ms", poll, message)
	}
	for _, name := range []string{"edits_at_once_listings", "edits_at_once_listings_alone_p99", "edit_processor_time"} {
		if r.known[name] <= 0 {
			t.Errorf("%s is %v", name, r.known[name])
		}
	}
}
