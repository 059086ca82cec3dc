package google

import (
	"fmt"
	"testing"
)

// A mask that one method may be asked for is refused by another, whichever was asked first.
func TestMasks_AreOfTheirMethod(t *testing.T) {
	t.Parallel()
	listing, event := route{name: "events.list", shape: listShape}, route{name: "events.get", shape: shape{"id": nil}}
	var known masks
	for range 2 {
		if m, err := known.of(listing, "items(id)"); err != nil || m["items"] == nil {
			t.Errorf("a listing is refused items(id): %v, %v", m, err)
		}
		if _, err := known.of(event, "items(id)"); err == nil {
			t.Error("an event may be asked for items(id)")
		}
	}
}

func TestMasks_OfManyTexts_AreForgotten(t *testing.T) {
	t.Parallel()
	var known masks
	anything := route{name: "anything"}
	for i := range 3 * mostMasks {
		name := fmt.Sprintf("f%d", i)
		m, err := known.of(anything, name)
		if _, there := m[name]; err != nil || !there || len(known.known) > mostMasks {
			t.Fatalf("mask %s is %v of %d known ones: %v", name, m, len(known.known), err)
		}
	}
}
