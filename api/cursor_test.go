package api

import (
	"encoding/base64"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

var journalOf7 = listing{name: "journal", parent: store.Doc("schedulers", "7"), collection: "journal"}

func TestCursor_EncodedAndDecoded_IsUnchanged(t *testing.T) {
	t.Parallel()
	for _, value := range []any{
		time.Date(2026, 2, 1, 12, 0, 0, 123_456_000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
		time.Unix(0, 0).UTC(), "a text", "", nil, true, 1.5,
	} {
		went := &store.Cursor{Values: []any{value}, Path: journalOf7.path(cursorToken{ID: "jrn_1"})}
		token, err := journalOf7.token(went)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(token, "+/=") {
			t.Errorf("%q must be escaped in an address", token)
		}
		came, err := journalOf7.cursor(token)
		if err != nil || !reflect.DeepEqual(came, went) {
			t.Errorf("%v came back as %v, %v", went, came, err)
		}
	}
}

func TestCursor_AcrossACollection_NamesTheParent(t *testing.T) {
	t.Parallel()
	journals := listing{name: "journals of gm", collection: "journal", within: "schedulers"}
	went := &store.Cursor{Values: []any{time.Unix(1, 0).UTC()}, Path: store.Doc("schedulers", "7").Doc("journal", "jrn_1")}
	token, err := journals.token(went)
	if err != nil {
		t.Fatal(err)
	}
	if came, err := journals.cursor(token); err != nil || !reflect.DeepEqual(came, went) {
		t.Errorf("%v came back as %v, %v", went, came, err)
	}
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"l":"` + journals.mark() + `","v":{"t":"1"},"d":"x","i":"a/b"}`))
	if at, err := journals.cursor(forged); !fault.Is(err, fault.Invalid) {
		t.Errorf("a path above is taken: %v, %v", at, err)
	}
}

func TestCursor_AtTheEnds(t *testing.T) {
	t.Parallel()
	if token, err := journalOf7.token(nil); token != "" || err != nil {
		t.Errorf("the end is %q, %v", token, err)
	}
	if at, err := journalOf7.cursor(""); at != nil || err != nil {
		t.Errorf("the beginning is %v, %v", at, err)
	}
}

func TestCursor_NotOfTheList_IsInvalid(t *testing.T) {
	t.Parallel()
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	mark := journalOf7.mark()
	forged := map[string]string{
		"rubbish": "rubbish", "no base64": "%%%", "no JSON": encode("x"), "null": encode("null"), "a list": encode("[]"),
		"no mark": encode(`{"v":{"t":"1"},"d":"x"}`), "a path": encode(`{"l":"` + mark + `","v":{"t":"1"},"d":"a/b"}`),
		"up": encode(`{"l":"` + mark + `","v":{"t":"1"},"d":".."}`), "no id": encode(`{"l":"` + mark + `","v":{"t":"1"}}`),
		"a list of values": encode(`{"l":"` + mark + `","v":[[1]],"d":"x"}`), "another value": encode(`{"l":"` + mark + `","v":{"u":1},"d":"x"}`),
		"a number for a time": encode(`{"l":"` + mark + `","v":{"t":1},"d":"x"}`),
		"two values":          encode(`{"l":"` + mark + `","v":{"t":"1","u":1},"d":"x"}`),
		"a document above":    encode(`{"l":"` + mark + `","v":{"t":"1"},"d":"x","i":"8"}`),
		"the end of days":     encode(`{"l":"` + mark + `","v":{"t":"9000000000000000000"},"d":"x"}`),
		"before all days":     encode(`{"l":"` + mark + `","v":{"t":"-9000000000000000000"},"d":"x"}`),
	}
	other := listing{name: "journal", parent: store.Doc("schedulers", "8"), collection: "journal"}
	token, err := other.token(&store.Cursor{Values: []any{time.Unix(1, 0)}, Path: other.path(cursorToken{ID: "jrn_1"})})
	if err != nil {
		t.Fatal(err)
	}
	forged["another poll's"] = token
	for name, text := range forged {
		if at, err := journalOf7.cursor(text); !fault.Is(err, fault.Invalid) || at != nil {
			t.Errorf("%s is taken: %v, %v", name, at, err)
		}
	}
}

func TestMinutes_Fractions_AreKeptToTheMillisecond(t *testing.T) {
	t.Parallel()
	for count, want := range map[float64]time.Duration{
		0: 0, 1: time.Minute, 90.5: 90*time.Minute + 30*time.Second, 1.0 / 3: 20 * time.Second, 44_640: 31 * 24 * time.Hour,
		math.Pi: 188_496 * time.Millisecond,
	} {
		if got := minutes(count); got != want {
			t.Errorf("%v minutes are %v, want %v", count, got, want)
		}
	}
}
