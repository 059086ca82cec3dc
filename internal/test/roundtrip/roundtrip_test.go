package roundtrip_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/test/roundtrip"
	"questscheduler/rules"
)

type part struct {
	Who  string
	whom string
}

type document struct {
	Name  string
	Count int64
	On    bool
	Off   bool
	At    time.Time
	When  rules.Fingerprint
	One   *part
	Some  []part
	ByID  map[string]part
	Texts []string
	part
}

// Each row is a codec with a fault, and the field that it is of.
func TestProblems_CodecWithAFault_NamesTheField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(v *document)
		field string
	}{
		"a text forgotten":            {func(v *document) { v.Name = "" }, "Name"},
		"a number forgotten":          {func(v *document) { v.Count = 0 }, "Count"},
		"a boolean forgotten":         {func(v *document) { v.On = false }, "On"},
		"two booleans exchanged":      {func(v *document) { v.On, v.Off = v.Off, v.On }, "Off"},
		"a time cut":                  {func(v *document) { v.At = v.At.Truncate(time.Minute) }, "At"},
		"a time of the day forgotten": {func(v *document) { v.When.AllDay = false }, "When"},
		"a field below forgotten":     {func(v *document) { v.One.whom = "" }, "One.whom"},
		"a pointer forgotten":         {func(v *document) { v.One = nil }, "One"},
		"in a list":                   {func(v *document) { v.Some[1].Who = "" }, "Some.Who"},
		"a list cut":                  {func(v *document) { v.Texts = v.Texts[:1] }, "Texts"},
		"in a map": {func(v *document) {
			for id, held := range v.ByID {
				held.whom = ""
				v.ByID[id] = held
			}
		}, "ByID.whom"},
		"a map forgotten":      {func(v *document) { v.ByID = map[string]part{} }, "ByID"},
		"in what is embedded":  {func(v *document) { v.whom = "" }, "whom"},
		"two fields exchanged": {func(v *document) { v.part.Who, v.whom = v.whom, v.part.Who }, "Who"},
	} {
		problems := roundtrip.Problems(roundtrip.Codec[document]{Through: func(v document) document {
			c.spoil(&v)
			return v
		}})
		if len(problems) == 0 || !strings.HasPrefix(problems[0], c.field+": wrote ") {
			t.Errorf("%s: %q, want a problem of %s", name, problems, c.field)
		}
	}
}

func TestProblems_SoundCodec_HasNone(t *testing.T) {
	t.Parallel()
	var names []string
	if problems := roundtrip.Problems(roundtrip.Codec[document]{
		Through: func(v document) document {
			names = append(names, v.Name)
			v.Count = 0
			return v
		},
		Fixed: map[string]any{"Name": "x"}, Lost: map[string]string{"Count": "it is not stored"},
	}); len(problems) > 0 || !reflect.DeepEqual(names, []string{"x", "x", "x"}) {
		t.Errorf("%q, written for %q", problems, names)
	}
}

func TestProblems_ListsThatTheTypeDoesNotBearOut_AreNamed(t *testing.T) {
	t.Parallel()
	got := roundtrip.Problems(roundtrip.Codec[document]{
		Through: func(v document) document { return v },
		Fixed:   map[string]any{"Nothing": "x"}, Lost: map[string]string{"One.Where": "y", "Name": "z"},
	})
	want := []string{
		"Name is stored: take it off the list of lost fields", "Nothing is no field of roundtrip_test.document",
		"One.Where is no field of roundtrip_test.document",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFields_EachField_IsFilledAlone(t *testing.T) {
	t.Parallel()
	all := roundtrip.Fields[document]()
	for _, name := range []string{"Name", "Count", "On", "Off", "At", "When", "One.Who", "One.whom", "Some", "ByID", "Texts", "Who", "whom"} {
		v, there := all[name]
		if filled := reflect.ValueOf(v); !there || filled.IsZero() {
			t.Errorf("%s is not filled", name)
		}
		delete(all, name)
	}
	if len(all) > 0 {
		t.Errorf("unexpected fields: %v", all)
	}
}
