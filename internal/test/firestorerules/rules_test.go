package firestorerules_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"questscheduler/internal/test/docs"
	"questscheduler/internal/test/emulator"
)

// The people of every row: gm created the poll, ana takes part, ben takes part
// through the group, cho is invited, dan is a stranger.
var (
	gm     = person{uid: "gm", email: "gm@example.org", provider: "password"}
	ana    = person{uid: "ana", email: "ana@example.org", provider: "password"}
	ben    = person{uid: "ben", email: "ben@example.org", provider: "password"}
	cho    = person{uid: "cho", email: "cho@example.org", provider: "password"}
	dan    = person{uid: "dan", email: "dan@example.org", provider: "password"}
	nobody = person{}
)

// attempt is one request and the documents that exist before it. POLL and NOTE in
// paths and texts stand for ids that no other row has. Rows share the id of GROUP if
// their groups are equal.
type attempt struct {
	as     person
	there  map[string]fields
	writes []write
	// reads is what a request without writes reads: a document, or a collection with
	// a filter.
	reads  string
	filter []any
}

// scenario is an allowed attempt, with the variations that are allowed too
// (likewise) and those that are denied (but). Each variation changes one thing. A
// scenario without an attempt has denied variations only.
type scenario struct {
	name     string
	attempt  attempt
	likewise []variation
	but      []variation
}

type variation struct {
	name   string
	change func(a *attempt)
}

// as changes the person of the request.
func as(p person) func(*attempt) { return func(a *attempt) { a.as = p } }

// writing changes a field of what is written first.
func writing(field string, value any) func(*attempt) {
	return func(a *attempt) { a.writes[0].data[field] = value }
}

// leavingOut takes a field out of what is written first.
func leavingOut(field string) func(*attempt) {
	return func(a *attempt) { delete(a.writes[0].data, field) }
}

// where changes a field of a document that is there.
func where(path, field string, value any) func(*attempt) {
	return func(a *attempt) { a.there[path][field] = value }
}

// leavingOutThere takes a field out of a document that is there.
func leavingOutThere(path, field string) func(*attempt) {
	return func(a *attempt) { delete(a.there[path], field) }
}

// both combines two changes, such as a person and the field that names them.
func both(one, other func(*attempt)) func(*attempt) {
	return func(a *attempt) { one(a); other(a) }
}

const pollPath = "schedulers/POLL"

// aPoll is an open poll of gm's, with people in every role.
func aPoll() fields {
	return fields{
		"title": "A dungeon", "description": "", "creatorId": "gm", "creatorEmail": gm.email, "status": "OPEN",
		"participantIds": []any{"gm", "ana"}, "pendingInvites": []any{cho.email, "eve@example.org"}, "allowLinkSharing": false,
		"timezone": "Europe/Berlin", "timezoneMode": "manual", "winningSlotId": nil, "googleEventId": nil,
		"questingGroupId": "GROUP", "questingGroupName": "The party", "createdAt": noon, "aFieldOfTheirs": "kept",
	}
}

// withPoll has the documents of most rows: the poll with changes, and its group.
func withPoll(changes fields) map[string]fields {
	poll := aPoll()
	maps.Copy(poll, changes)
	return map[string]fields{
		pollPath:               poll,
		"questingGroups/GROUP": {"name": "The party", "creatorId": "eve", "memberIds": []any{"eve", "ben"}},
		"schedulers/POLL/slots/one": {
			"start": "2026-02-02T10:00:00.000Z", "end": "2026-02-02T14:00:00.000Z", "stats": fields{"feasible": 1, "preferred": 0},
		},
		"schedulers/POLL/votes/ana": {
			"voterId": "ana", "userEmail": ana.email, "userAvatar": nil, "votes": fields{"one": "FEASIBLE", "two": "PREFERRED"},
			"noTimesWork": false, "updatedAt": noon, "source": "discord",
		},
	}
}

// rules returns a client of a new project on the emulator, with firestore.rules.
func rules(t *testing.T) client {
	t.Helper()
	host, project := emulator.Project(t)
	c := client{host, project}
	file := map[string]any{"name": "firestore.rules", "content": docs.Read(t, "firestore.rules")}
	status, answer := c.do(t, http.MethodPut, "/emulator/v1/projects/"+project+":securityRules", owner,
		map[string]any{"rules": map[string]any{"files": []any{file}}})
	if status != http.StatusOK {
		t.Fatalf("firestore.rules does not compile: %s", answer)
	}
	return c
}

func TestRules(t *testing.T) {
	t.Parallel()
	// Each table has its own project: the emulator cannot return a report that covers
	// all tables.
	var projects []client
	t.Run("rows", func(t *testing.T) { //nolint:paralleltest // the coverage is read when its rows have ended
		for table, scenarios := range map[string][]scenario{
			"reading": reading(), "listing": listing(), "creating a poll": creating(), "a poll's status": statuses(), "editing": editing(),
			"deleting": deleting(), "one's own part": parts(), "slots": slots(), "votes": votes(), "notifications": notices(),
			"closed": closed(), "removing participants": removing(),
		} {
			c := rules(t)
			projects = append(projects, c)
			t.Run(table, func(t *testing.T) {
				t.Parallel()
				var all []*try
				for _, d := range scenarios {
					all = append(all, d.cases()...)
				}
				seed(t, c, all)
				for _, one := range all {
					one.check(t, c)
				}
			})
		}
	})
	if !t.Failed() {
		checkCoverage(t, projects)
	}
}

// cases returns the attempt of a scenario and every variation of it.
func (d scenario) cases() []*try {
	var all []*try
	if d.attempt.reads != "" || len(d.attempt.writes) > 0 {
		all = append(all, newTry(d.name, d.attempt, true))
	}
	vary := func(variations []variation, want bool) {
		for _, v := range variations {
			changed := d.attempt.clone()
			v.change(&changed)
			all = append(all, newTry(d.name+", "+v.name, changed, want))
		}
	}
	vary(d.likewise, true)
	vary(d.but, false)
	return all
}

// try is an attempt with ids of its own.
type try struct {
	name    string
	attempt attempt
	want    bool
}

// tries counts them.
var tries atomic.Int64

func newTry(name string, a attempt, want bool) *try {
	number := tries.Add(1)
	// Equal groups share an id: the emulator's coverage report lists every distinct
	// value, and polls of one group are equal values.
	group := fnv.New32()
	fmt.Fprint(group, a.there["questingGroups/GROUP"])
	ids := strings.NewReplacer(
		"POLL", fmt.Sprintf("00000000-0000-4000-8000-%012x", number),
		"GROUP", fmt.Sprintf("group-%x", group.Sum32()),
		"NOTE", fmt.Sprintf("note-%d", number))
	own := a.with(ids)
	return &try{name, own, want}
}

// seed writes the documents that exist before each attempt, as the server would. It
// writes many at once, since every request costs time.
func seed(t *testing.T, c client, all []*try) {
	t.Helper()
	var seeds []write
	for _, one := range all {
		for path, data := range one.attempt.there {
			seeds = append(seeds, write{path: path, data: data})
		}
	}
	for batch := range slices.Chunk(seeds, 300) {
		if !c.commit(t, owner, batch...) {
			t.Fatal("write the documents of the attempts: denied")
		}
	}
}

func (y *try) check(t *testing.T, c client) {
	t.Helper()
	a, bearer := y.attempt, c.bearer(y.attempt.as)
	var got bool
	switch {
	case len(a.writes) > 0:
		got = c.commit(t, bearer, a.writes...)
	case strings.Count(a.reads, "/")%2 == 1:
		got = c.get(t, bearer, a.reads)
	default:
		got = c.query(t, bearer, a.reads, a.filter...)
	}
	if got != y.want {
		t.Errorf("%s: allowed %t, want %t", y.name, got, y.want)
	}
}

// replaced copies a value deeply and replaces the ids in its texts.
func replaced(value any, ids *strings.Replacer) any {
	switch v := value.(type) {
	case string:
		return ids.Replace(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = replaced(item, ids)
		}
		return list
	case fields:
		made := fields{}
		for name, item := range v {
			made[name] = replaced(item, ids)
		}
		return made
	}
	return value
}

// with copies an attempt deeply and replaces its ids.
func (a attempt) with(ids *strings.Replacer) attempt {
	there := map[string]fields{}
	for path, data := range a.there {
		there[ids.Replace(path)] = replaced(data, ids).(fields)
	}
	writes := make([]write, len(a.writes))
	for i, w := range a.writes {
		writes[i] = write{path: ids.Replace(w.path), named: w.named}
		if w.data != nil {
			writes[i].data = replaced(w.data, ids).(fields)
		}
	}
	a.there, a.writes, a.reads = there, writes, ids.Replace(a.reads)
	a.filter = replaced(append([]any{}, a.filter...), ids).([]any)
	return a
}

func (a attempt) clone() attempt { return a.with(strings.NewReplacer()) }

func TestRules_AnythingThatIsNoRule_IsRefusedByTheEmulator(t *testing.T) {
	t.Parallel()
	host, project := emulator.Project(t)
	c := client{host, project}
	file := map[string]any{"name": "firestore.rules", "content": "rules_version = '2'; service cloud.firestore { allow all; }"}
	status, answer := c.do(t, http.MethodPut, "/emulator/v1/projects/"+project+":securityRules", owner,
		map[string]any{"rules": map[string]any{"files": []any{file}}})
	if status != http.StatusBadRequest || !json.Valid(answer) {
		t.Fatalf("the emulator says %d %s", status, answer)
	}
}
