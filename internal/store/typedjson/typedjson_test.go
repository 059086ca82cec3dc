package typedjson

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func anyField(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(v bool) any { return v }),
		rapid.Map(rapid.Int64(), func(v int64) any { return v }),
		rapid.Map(rapid.Float64(), func(v float64) any { return v }),
		rapid.SampledFrom([]any{math.Inf(1), math.Inf(-1), 0.0, 1.0, 1e21, -1e-7, math.MaxFloat64}),
		rapid.Map(rapid.Int64Range(-62135596800e6, 253402300799e6), func(v int64) any { return time.UnixMicro(v).UTC() }),
		rapid.Map(rapid.String(), func(v string) any { return v }),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(anyField(depth-1), 0, 3), func(v []any) any { return v }),
			rapid.Map(anyFields(depth-1), func(v map[string]any) any { return v }))
	}
	return rapid.OneOf(kinds...)
}

func anyFields(depth int) *rapid.Generator[map[string]any] {
	names := rapid.OneOf(rapid.SampledFrom([]string{"a", "$", "$$", "$time", "$$time", "$double", "a.b"}),
		rapid.StringN(1, 5, -1))
	return rapid.MapOfN(names, anyField(depth), 0, 4)
}

func TestDecode_GivesBackWhatWasEncoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := anyFields(2).Draw(t, "data")
		text, err := Encode(data)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if !identical(data, back) {
			t.Fatalf("%#v became %s and came back as %#v", data, text, back)
		}
		again, err := Encode(back)
		if err != nil || again != text {
			t.Fatalf("equal fields have two texts: %s and %s (%v)", text, again, err)
		}
	})
}

// identical tells types apart as well as values.
func identical(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, field := range x {
			other, there := y[name]
			if !there || !identical(field, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !identical(x[i], y[i]) {
				return false
			}
		}
		return true
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y) && y.Location() == time.UTC
	case float64:
		y, ok := b.(float64)
		return ok && math.Float64bits(x) == math.Float64bits(y)
	default:
		return a == b
	}
}

func TestEncode_IsWhatDataFilesKeep(t *testing.T) {
	t.Parallel()
	data := map[string]any{
		"n": int64(5), "d": 5.0, "e": 1e300, "t": time.UnixMicro(1).UTC(), "s": "<né>", "z": nil, "b": true,
		"l": []any{int64(1), 1.5, map[string]any{"$time": "x"}}, "inf": math.Inf(-1), "nan": math.NaN(),
	}
	const want = `{"b":true,"d":5.0,"e":1e+300,"inf":{"$double":"-Inf"},"l":[1,1.5,{"$$time":"x"}],"n":5,` +
		`"nan":{"$double":"NaN"},"s":"<né>","t":{"$time":"1970-01-01T00:00:00.000001Z"},"z":null}`
	got, err := Encode(data)
	if err != nil || got != want {
		t.Fatalf("got  %s (%v)\nwant %s", got, err, want)
	}
	back, err := Decode([]byte(got))
	if err != nil || !math.IsNaN(back["nan"].(float64)) {
		t.Fatalf("not-a-number came back as %v (%v)", back["nan"], err)
	}
}

func TestDecode_NoDocument_IsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "null", "[]", "5", "{", `{"a":1e999}`, `{"a":99999999999999999999}`, `{"a":{"$time":"x"}}`,
		`{"a":[{"$double":"x"}]}`,
	} {
		if data, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s was read as %v", text, data)
		}
	}
}
