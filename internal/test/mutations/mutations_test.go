package main

import (
	"bytes"
	"go/format"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A module with one function of each kind of change. Its tests notice some of them.
var sample = map[string]string{
	"go.mod": "module sample\n\ngo 1.24\n",
	"limits/limits.go": `// Package limits is changed by a test.
package limits

// Limit says how much is allowed.
type Limit struct {
	Most, Least int
	Strict      bool
}

// Standard is what is allowed.
var Standard = Limit{Most: 10, Least: 1, Strict: true}

// Fits reports whether n is allowed.
func (l Limit) Fits(n int) bool {
	if l.Strict && n > l.Most {
		return false
	}
	return n >= l.Least
}

// Between adds what is between two numbers.
func Between(from, to int) (sum, count int) {
	for i := from; i < to; i++ {
		sum += i
		count++
	}
	return sum, count
}

// Whole is the sum from l.Least to l.Most.
func (l Limit) Whole() int {
	sum, _ := Between(l.Least, l.Most)
	return sum
}

func unused() bool { return false }

// Strictest is the first that is strict. Its variable hides the type.
func Strictest(all []Limit) []Limit {
	for i, Limit := range all {
		if Limit.Strict {
			return all[i : i+1]
		}
	}
	return nil
}
`,
	"limits/limits_test.go": `package limits

import "testing"

func TestFits(t *testing.T) {
	if !Standard.Fits(5) || Standard.Fits(11) || Standard.Fits(0) {
		t.Error("it fits otherwise")
	}
}
`,
	"user/user.go": `// Package user depends on limits.
package user

import "sample/limits"

// Sum is the whole of the standard.
func Sum() int { return limits.Standard.Whole() }
`,
	"user/user_test.go": `package user

import "testing"

func TestSum(t *testing.T) {
	if Sum() != 45 {
		t.Error("it is another sum")
	}
}
`,
}

func open(t *testing.T) *tree {
	t.Helper()
	root := t.TempDir()
	for name, text := range sample {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of, err := load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

func TestTry_OwnTestsAlone_ShowsWhatTheyMiss(t *testing.T) {
	t.Parallel()
	of := open(t)
	var out bytes.Buffer
	s, err := of.try(t.Context(), &out, "limits", options{own: true, progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	for _, survivor := range []string{
		"limits.go:15\tLimit.Fits\tinstead of n > l.Most: n >= l.Most\n",
		"limits.go:18\tLimit.Fits\tinstead of n >= l.Least: n > l.Least\n",
		"limits.go:25\tBetween\tnot executed: remove count++\n",
		"limits.go:32\tLimit.Whole\tnot executed: swap l.Least and l.Most of Between\n",
		"limits.go:36\tunused\tnot executed: instead of return false: return true\n",
	} {
		if !strings.Contains(out.String(), survivor) {
			t.Errorf("%q is not among the survivors:\n%s", survivor, &out)
		}
	}
	for _, noticed := range []string{"negate n >= l.Least", "leave out Strict", "leave out Most", "drop n > l.Most", "leave out Least"} {
		if strings.Contains(out.String(), noticed) {
			t.Errorf("%q counts as a survivor, but TestFits fails with it", noticed)
		}
	}
	if s.changes != s.killed+s.survived || s.unexecuted == 0 || s.unexecuted >= s.survived {
		t.Errorf("the score is %+v", s)
	}
}

func TestTry_DependantsToo_NoticesMore(t *testing.T) {
	t.Parallel()
	of := open(t)
	var out bytes.Buffer
	_, err := of.try(t.Context(), &out, "limits", options{
		excused:  map[string]string{"limits/limits.go\tunused\tinstead of return false: return true": "nobody calls it"},
		progress: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, noticed := range []string{"remove sum += i", "swap l.Least and l.Most"} {
		if strings.Contains(out.String(), noticed) {
			t.Errorf("%q counts as a survivor, but the dependant's test fails with it", noticed)
		}
	}
	if strings.Contains(out.String(), "unused") {
		t.Error("a listed equivalent counts as a survivor")
	}
	if !strings.Contains(out.String(), "\tremove count++\n") {
		t.Errorf("a change that the dependant reaches counts as not executed:\n%s", &out)
	}
}

func TestPlant_EveryDecidingPackage_IsValidGo(t *testing.T) {
	t.Parallel()
	of, err := load(t.Context(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range deciding {
		s, err := of.parse(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		texts, changes := plant(s)
		if len(changes) < 50 {
			t.Errorf("%s: only %d changes", name, len(changes))
		}
		for file, text := range texts {
			if _, err := format.Source(text); err != nil {
				t.Errorf("%s/%s: %v", name, file, err)
			}
		}
	}
}

// A line of the list that fits nothing any more would hide the next survivor of its name.
func TestEquivalents_EachIsAChangeOfToday(t *testing.T) {
	t.Parallel()
	excused, err := readEquivalents()
	if err != nil {
		t.Fatal(err)
	}
	of, err := load(t.Context(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	checked := map[string]bool{}
	for name := range excused {
		file, _, _ := strings.Cut(name, "\t")
		folder := filepath.Dir(file)
		if checked[folder] {
			continue
		}
		checked[folder] = true
		s, err := of.parse(t.Context(), folder)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, changes := plant(s)
		for _, c := range changes {
			known = append(known, folder+"/"+c.name())
		}
	}
	for name := range excused {
		if !slices.Contains(known, name) {
			t.Errorf("equivalents.txt: no change is named %q", name)
		}
	}
}
