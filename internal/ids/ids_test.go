package ids_test

import (
	"testing"
	"time"

	"questscheduler/internal/ids"
)

// Stored documents have such ids: they must never become others.
func TestDerivedIDs_AreTheSameForEver(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 10, 19, 0, 0, 0, time.UTC)
	for got, want := range map[string]string{
		ids.Of("a", "b").Hex(16):    "59b271ae1bbcb1d31d41929817f4b16f",
		ids.Of("a\x00b").Hex(16):    "59b271ae1bbcb1d31d41929817f4b16f",
		ids.Of("a", "b").Hex(4):     "59b271ae",
		ids.Of("a", "b").Base64(15): "WbJxrhu8sdMdQZKYF_Sx",
		ids.Of("a", "b").Base32():   "lgzhdlq3xsy5ghkbskmbp5frn4",
		ids.Of("a", "b").Google():   "b6p73bgrniot67a1iac1ft5hds",
		ids.UUIDOf("a"):             "8d8d2633-2a0f-80b3-956e-f8b9ca9b73f9",
		ids.ULIDOf(at, "a"):         "01KKCHXJW0SABR24PA3EYWNYP2",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestDrawnIDs_DifferAndIncrease(t *testing.T) {
	t.Parallel()
	if first, second := ids.UUID(), ids.UUID(); first == second {
		t.Error("two UUIDs are the same")
	}
	now := time.Now()
	if first, second := ids.ULID(now), ids.ULID(now); first >= second {
		t.Errorf("%s comes before %s", first, second)
	}
}
