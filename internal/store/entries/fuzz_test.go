package entries_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"questscheduler/internal/store/entries"
)

// values makes two values of bytes: what kind each is, then what it holds.
func values(kinds uint8, number int64, double float64, text string) (a, b any) {
	of := func(kind uint8, other bool) any {
		switch kind % 8 {
		case 0:
			return number
		case 1:
			return double
		case 2:
			return text
		case 3:
			return other
		case 4:
			return []any{number, text}
		case 5:
			return map[string]any{text: double, "a": nil}
		case 6:
			return time.UnixMicro(number % (1 << 50)).UTC()
		default:
			return nil
		}
	}
	a, b = of(kinds, false), of(kinds>>4, true)
	if whole, ok := b.(int64); ok && kinds&8 != 0 {
		b = whole ^ 1 // a close one
	}
	return a, b
}

// FuzzKeys: keys sort as Firestore sorts values, and none is the beginning of
// another: on these two stands every query of two drivers.
func FuzzKeys(f *testing.F) {
	f.Add(uint8(0x10), int64(1<<53+1), float64(1<<53), "")
	f.Add(uint8(0x01), int64(math.MaxInt64), float64(math.MaxInt64), "a\x00b")
	f.Add(uint8(0x22), int64(-1), math.Copysign(0, -1), "\xff\x00")
	f.Add(uint8(0x54), int64(0), math.Inf(-1), "a")
	f.Fuzz(func(t *testing.T, kinds uint8, number int64, double float64, text string) {
		a, b := values(kinds, number, double, text)
		if math.IsNaN(double) { // it has no order of its own to compare with
			return
		}
		x, y := entries.AppendValue(nil, a), entries.AppendValue(nil, b)
		if got, want := bytes.Compare(x, y), compare(a, b); got != want {
			t.Fatalf("the keys of %#v and %#v compare as %d, want %d", a, b, got, want)
		}
		if bytes.HasPrefix(x, y) && !bytes.Equal(x, y) || bytes.HasPrefix(y, x) && !bytes.Equal(x, y) {
			t.Fatalf("one of the keys of %#v and %#v begins with the other", a, b)
		}
	})
}
