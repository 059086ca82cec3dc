package transition_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

var update = flag.Bool("update", false, "write the golden files anew")

// outcomes gives what a step makes of each named state, as text: each fact once, below the
// states in which it holds.
func outcomes(all []named, do func(s *transition.Step) string) string {
	holds, order := map[string][]string{}, []string(nil)
	for _, of := range all {
		step := &transition.Step{State: of.state(), Setting: setting()}
		before := step.Poll
		facts := append(strings.Split(do(step), "\n"), describe(before, step.Outcome)...)
		for _, fact := range facts {
			fact = strings.TrimSpace(readable(fact))
			if fact == "" {
				continue
			} else if len(holds[fact]) == 0 {
				order = append(order, fact)
			}
			holds[fact] = append(holds[fact], of.name)
		}
	}
	together, titles := map[string][]string{}, []string(nil)
	for _, fact := range order {
		title := title(holds[fact], all)
		if len(together[title]) == 0 {
			titles = append(titles, title)
		}
		together[title] = append(together[title], fact)
	}
	var out strings.Builder
	for _, title := range titles {
		fmt.Fprintf(&out, "%s:\n\t%s\n", title, strings.Join(joined(together[title]), "\n\t"))
	}
	return out.String()
}

// joined writes the fields of one document on one line.
func joined(facts []string) (lines []string) {
	places := map[string]int{}
	for _, fact := range facts {
		name, field, _ := strings.Cut(fact, ": ")
		if i, known := places[name]; known && field != "" {
			lines[i] += " " + field
			continue
		}
		places[name], lines = len(lines), append(lines, fact)
	}
	return lines
}

// title names states of all, by those that are not among them if these are fewer.
func title(states []string, all []named) string {
	if len(states) == len(all) {
		return "all"
	} else if 2*len(states) <= len(all) {
		return strings.Join(states, " ")
	}
	var others []string
	for _, of := range all {
		if !slices.Contains(states, of.name) {
			others = append(others, of.name)
		}
	}
	return "all but " + strings.Join(others, " ")
}

// describe lists an outcome's facts: the poll's fields that differ, and every field of the rest.
func describe(before poll.Poll, o transition.Outcome) (facts []string) {
	all := func(name string, fields map[string]string) {
		text := name
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			text += " " + key + "=" + fields[key]
		}
		facts = append(facts, text)
	}
	each := func(name string, fields map[string]string) {
		if len(fields) == 0 {
			facts = append(facts, name)
		}
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			facts = append(facts, name+": "+key+"="+fields[key])
		}
	}
	difference := func(name string, before, after *poll.Poll) {
		if after == nil {
			return
		}
		facts = append(facts, name)
		was, is := fields(*before), fields(*after)
		for key := range was {
			if is[key] == "" {
				is[key] = "none"
			}
		}
		maps.DeleteFunc(is, func(key, value string) bool { return was[key] == value })
		each(name, is)
	}
	difference("poll", &before, o.After)
	for _, entry := range o.Entries {
		each("journal", fields(entry))
	}
	for _, write := range o.Writes {
		each(fmt.Sprint(write.Kind, " ", write.Path), data(write))
	}
	for _, intent := range o.Intents {
		all("intent", fields(intent))
	}
	if o.Due != nil {
		all("announce", fields(*o.Due))
	}
	if o.Card != o.After {
		difference("card", cmp.Or(o.After, &before), o.Card)
	} else if o.Card != nil {
		facts = append(facts, "card of the poll")
	}
	if o.Sync != nil {
		all("sync", fields(*o.Sync))
	}
	if o.Session != nil {
		all("session", fields(*o.Session))
	}
	return facts
}

// readable names the times and event ids of the tests.
func readable(text string) string {
	return strings.NewReplacer(
		ten.String(), "TEN", noon.String(), "NOON", four.String(), "FOUR", day.String(), "DAY",
		poll.EventID("poll", 2), "EVENT-2", poll.EventID("poll", 3), "EVENT-3", poll.EventID("poll", 4), "EVENT-4",
	).Replace(text)
}

func list(fields map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		parts = append(parts, key+"="+fields[key])
	}
	return strings.Join(parts, " ")
}

// data is what a write writes, by field.
func data(w store.Write) map[string]string {
	all := map[string]string{}
	for key, value := range w.Data {
		flatten(all, key, reflect.ValueOf(value))
	}
	for _, u := range w.Updates {
		if store.IsDelete(u.Value) {
			all[u.Path.String()] = "(removed)"
		} else {
			flatten(all, u.Path.String(), reflect.ValueOf(u.Value))
		}
	}
	return all
}

// fields are the exported fields of a structure that are not zero, by path.
func fields(of any) map[string]string {
	all := map[string]string{}
	flatten(all, "", reflect.ValueOf(of))
	return all
}

func flatten(all map[string]string, name string, value reflect.Value) {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem()
		if value.IsValid() && value.IsZero() {
			all[name] = "(zero)"
		}
	}
	if !value.IsValid() || value.IsZero() {
		return
	}
	below := func(key string) string { return strings.TrimPrefix(name+"."+key, ".") }
	switch v := value.Interface().(type) {
	case time.Time:
		all[name] = moment(v)
		return
	case rules.Fingerprint:
		all[name] = v.String()
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			if field := value.Type().Field(i); field.IsExported() {
				flatten(all, below(field.Name), value.Field(i))
			}
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			flatten(all, below(key.String()), value.MapIndex(key))
		}
	case reflect.Slice:
		all[name] = "[]"
		for i := range value.Len() {
			flatten(all, fmt.Sprintf("%s[%d]", name, i), value.Index(i))
		}
	default:
		all[name] = strings.ReplaceAll(fmt.Sprint(value.Interface()), " ", "_")
	}
}

// moment is a time beside now, if it is near.
func moment(at time.Time) string {
	if after := at.Sub(now); after == 0 {
		return "now"
	} else if after.Abs() < 100*24*time.Hour {
		return "now" + strings.Replace("+"+after.String(), "+-", "-", 1)
	}
	return at.Format(time.RFC3339)
}

// golden compares the pages of a file of testdata, by their titles, one after the other.
func golden(t *testing.T, name string, titles []string, page func(i int) string) {
	path := filepath.Join("testdata", name+".golden")
	if *update {
		var all strings.Builder
		for i, title := range titles {
			fmt.Fprintf(&all, "# %s\n%s", title, page(i))
		}
		if err := os.WriteFile(path, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split("\n"+string(text), "\n# ")[1:]
	for i, title := range titles {
		if i >= len(want) {
			t.Fatalf("%s has no page %q (go test -update writes it anew)", path, title)
		}
		is, was := strings.Split(title+"\n"+page(i), "\n"), strings.Split(want[i]+"\n", "\n")
		for line := range max(len(is), len(was)) {
			if a, b := at(is, line), at(was, line); a != b && a+b != "" {
				t.Fatalf("%s: %s, line %d (go test -update writes it anew):\n got %s\nwant %s", path, title, line, a, b)
			}
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// setting has ids that are counted, and waits that differ.
func setting() transition.Setting {
	ids := 0
	next := func() string { ids++; return fmt.Sprint("id-", ids) }
	return transition.Setting{
		Now: now, IDs: transition.IDs{UUID: next, ULID: func(prefix string) string { return prefix + "_" + next() }},
		Trace: "trace", Trigger: "person", SnapshotKeep: 30 * 24 * time.Hour, Settle: 10 * time.Second, AppNoticeDelay: time.Minute,
	}
}
