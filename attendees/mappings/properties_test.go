package mappings_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"questscheduler/attendees/mappings"
)

var (
	primaries   = []string{"a@hoge.test", "B@hoge.test", "c@sub.hoge.test", "d@hoge.test"}
	secondaries = []string{"a@fuga.test", "B@fuga.test", "c@baz.test", "d@baz.test", "e@baz.test"}
)

// anyTable are tables of few people, so that two often differ little.
func anyTable(t *rapid.T, name string) mappings.Table {
	drawn := rapid.MapOf(rapid.SampledFrom(primaries), rapid.SliceOfN(rapid.SampledFrom(secondaries), 1, 4)).Draw(t, name)
	var list []mappings.Mapping
	for _, primary := range slices.Sorted(maps.Keys(drawn)) {
		list = append(list, mappings.Mapping{Primary: primary, Secondaries: drawn[primary]})
	}
	return mappings.NewTable(list)
}

// rowsFor writes a table as a sheet.
func rowsFor(table mappings.Table) (rows [][]string) {
	for _, m := range table.Mappings() {
		rows = append(rows, []string{m.Primary, strings.Join(m.Secondaries, ", "), "active"})
	}
	return rows
}

func same(a, b mappings.Table) bool {
	return a.Version() == b.Version() && reflect.DeepEqual(a.Mappings(), b.Mappings())
}

func pairs(table mappings.Table) map[string]bool {
	all := map[string]bool{}
	for _, m := range table.Mappings() {
		for _, s := range m.Secondaries {
			all[m.Primary+" "+s] = true
		}
	}
	return all
}

func TestGained_MirrorsWhatIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, now := anyTable(t, "before"), anyTable(t, "now")
		gained, growing := mappings.Gained(before, now)
		lost, _ := mappings.Lost(now, before)
		people := map[string]bool{}
		for pair := range pairs(now) {
			if primary, _, _ := strings.Cut(pair, " "); !pairs(before)[pair] {
				people[primary] = true
			}
		}
		if gained != lost || growing != len(people) {
			t.Fatalf("%d pairs of %d, want %d of %d", gained, growing, lost, len(people))
		}
	})
}

func TestParse_WrittenTable_IsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table, before := anyTable(t, "table"), anyTable(t, "before")
		if table.Len() == 0 {
			return
		}
		rows := rapid.Permutation(rowsFor(table)).Draw(t, "rows")
		got, skipped, err := mappings.Parse(rows, domains, before)
		if err != nil || len(skipped) > 0 || !same(got, table) {
			t.Fatalf("%v, %v, %s", err, skipped, textOf(got))
		}
	})
}

func TestParse_LastRowWithMistake_KeepsWhatWas(t *testing.T) {
	t.Parallel()
	mistakes := [][]string{{"", "a@fuga.test", "paused"}, {"", "broken"}, {"", "a@hoge.test"}, {"", "", ""}, {"", "a@fuga.test", "", "more"}}
	rapid.Check(t, func(t *rapid.T) {
		table, before := anyTable(t, "table"), anyTable(t, "before")
		broken := slices.Clone(rapid.SampledFrom(mistakes).Draw(t, "mistake"))
		broken[0] = rapid.SampledFrom(primaries).Draw(t, "primary")
		got, skipped, err := mappings.Parse(append(rowsFor(table), broken), domains, before)
		if err != nil || len(skipped) == 0 || skipped[len(skipped)-1].Row != table.Len()+2 {
			t.Fatalf("%v, %v", err, skipped)
		}
		for _, primary := range primaries {
			want := table
			if primary == broken[0] {
				want = before
			}
			if !slices.Equal(got.Secondaries(primary), want.Secondaries(primary)) {
				t.Fatalf("%s has %v", primary, got.Secondaries(primary))
			}
		}
	})
}

func TestChanged_Differences_AreThoseOfTheTables(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, now := anyTable(t, "before"), anyTable(t, "now")
		changed := mappings.Changed(before, now)
		if !slices.Equal(changed, mappings.Changed(now, before)) || !slices.IsSorted(changed) {
			t.Fatalf("there %v, back %v", changed, mappings.Changed(now, before))
		}
		if (len(changed) == 0) != same(before, now) || (before.Version() == now.Version()) != same(before, now) {
			t.Fatalf("changed are %v, versions %q and %q", changed, before.Version(), now.Version())
		}
		for _, primary := range primaries {
			differs := !slices.Equal(before.Secondaries(primary), now.Secondaries(primary))
			if differs != slices.Contains(changed, mappings.Fold(primary)) {
				t.Fatalf("%s: differs %v, changed %v", primary, differs, changed)
			}
		}
	})
}

func TestLost_Pairs_AreThoseThatNowLacks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, now := anyTable(t, "before"), anyTable(t, "now")
		lost, of := mappings.Lost(before, now)
		left := pairs(before)
		if of != len(left) {
			t.Fatalf("of %d, want %d", of, len(left))
		}
		for pair := range pairs(now) {
			delete(left, pair)
		}
		if lost != len(left) {
			t.Fatalf("lost %d, want %d", lost, len(left))
		}
		if lost, _ := mappings.Lost(before, before); lost != 0 {
			t.Fatalf("lost %d of itself", lost)
		}
	})
}

func TestEncode_DecodedAgain_IsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table := anyTable(t, "table")
		encoded, err := table.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := mappings.DecodeTable(encoded)
		if err != nil || !same(got, table) {
			t.Fatalf("%v, %s", err, textOf(got))
		}
		again, err := got.Encode()
		if err != nil || !slices.Equal(encoded, again) {
			t.Fatalf("%v, or other bytes", err)
		}
	})
}

func TestDecode_DamagedBytes_AreAnError(t *testing.T) {
	t.Parallel()
	encoded, err := mappings.NewTable([]mappings.Mapping{annBefore}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range encoded {
		if _, err := mappings.DecodeTable(encoded[:i]); err == nil {
			t.Errorf("the first %d of %d bytes were decoded", i, len(encoded))
		}
	}
}

func TestNew_SameContent_HasTheSameVersion(t *testing.T) {
	t.Parallel()
	versions := map[string]string{}
	for i, list := range [][]mappings.Mapping{
		nil,
		{{Primary: "a@hoge.test"}},
		{{Primary: "a@hoge.test", Secondaries: []string{"x@fuga.test"}}},
		{{Primary: "a@hoge.test", Secondaries: []string{"x@fuga.test", "y@fuga.test"}}},
		{{Primary: "a@hoge.test", Secondaries: []string{"x@fuga.test"}}, {Primary: "b@hoge.test", Secondaries: []string{"y@fuga.test"}}},
		{{Primary: "b@hoge.test", Secondaries: []string{"x@fuga.test"}}},
	} {
		version := mappings.NewTable(list).Version()
		if other, taken := versions[version]; taken {
			t.Errorf("%d has the version of %s", i, other)
		}
		versions[version] = fmt.Sprint(i)
	}
	mixed := []mappings.Mapping{{Primary: "A@hoge.test", Secondaries: []string{"Y@fuga.test", "x@fuga.test", "y@fuga.test"}}}
	if versions[mappings.NewTable(mixed).Version()] != "3" {
		t.Error("case, order and repetition change the version")
	}
}
