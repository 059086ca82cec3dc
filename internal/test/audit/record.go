package audit

import (
	"strings"
	"time"

	"questscheduler/internal/store"
)

// Whole collections.
var (
	polls       = &store.Query{Name: "audit: polls", Collection: "schedulers"}
	slots       = &store.Query{Name: "audit: slots", Collection: "slots", Group: true}
	votes       = &store.Query{Name: "audit: votes", Collection: "votes", Group: true}
	index       = &store.Query{Name: "audit: index entries", Collection: "calendarEventIndex"}
	accounts    = &store.Query{Name: "audit: accounts", Collection: "accounts"}
	groups      = &store.Query{Name: "audit: groups", Collection: "questingGroups"}
	policies    = &store.Query{Name: "audit: policies", Collection: "mirrorPolicies"}
	people      = &store.Query{Name: "audit: people", Collection: "mirrorPeople"}
	connections = &store.Query{Name: "audit: connections", Collection: "groupConnections"}
	calendars   = &store.Query{Name: "audit: calendars", Collection: "calendars"}
	canonical   = &store.Query{Name: "audit: canonical events", Collection: "canonicalEvents"}
)

// Queries are those that an audit asks the store.
var Queries = []*store.Query{polls, slots, votes, index, accounts, groups, policies, people, connections, calendars, canonical}

// record is a stored document, or a map within one.
type record struct {
	id, parent string
	fields     map[string]any
}

// value is what stands at a path of names; nil: nothing.
func (r record) value(names ...string) any {
	var at any = r.fields
	for _, name := range names {
		below, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = below[name]
	}
	return at
}

func (r record) has(names ...string) bool { return r.value(names...) != nil }

func (r record) text(names ...string) string {
	text, _ := r.value(names...).(string)
	return text
}

func (r record) flag(names ...string) bool {
	set, _ := r.value(names...).(bool)
	return set
}

// when is a moment, kept as such or as text; zero: none.
func (r record) when(names ...string) time.Time {
	switch value := r.value(names...).(type) {
	case time.Time:
		return value
	case string:
		return instant(value)
	default:
		return time.Time{}
	}
}

func (r record) texts(name string) (all []string) {
	items, _ := r.value(name).([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// below are the maps of a list.
func (r record) below(name string) (all []record) {
	items, _ := r.value(name).([]any)
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok {
			all = append(all, record{fields: fields})
		}
	}
	return all
}

func instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// all reads a collection.
func (a *audit) all(query *store.Query) (records []record, err error) {
	documents, err := a.Store.Query(a.ctx, query.With())
	for _, document := range documents {
		parts := strings.Split(string(document.Path), "/")
		r := record{id: parts[len(parts)-1], fields: document.Data}
		if len(parts) > 2 {
			r.parent = parts[len(parts)-3]
		}
		records = append(records, r)
	}
	return records, err
}

// read reads all documents that the checks need.
func (a *audit) read() error {
	a.polls, a.accounts, a.groups = map[string]record{}, map[string]record{}, map[string]record{}
	a.slots, a.votes, a.index = map[string]record{}, map[string]bool{}, map[string]record{}
	byID := func(in map[string]record) func(record) { return func(r record) { in[r.id] = r } }
	into := func(all *[]record) func(record) { return func(r record) { *all = append(*all, r) } }
	for _, collection := range []struct {
		query *store.Query
		keep  func(r record)
	}{
		{polls, byID(a.polls)}, {accounts, byID(a.accounts)}, {groups, byID(a.groups)},
		{slots, func(r record) { a.slots[r.parent+"/"+r.id] = r }},
		{votes, func(r record) { a.votes[r.parent+"/"+r.id] = true }},
		{index, func(r record) { event, _, _ := strings.Cut(r.id, "~"); a.index[event+" "+r.text("schedulerId")] = r }},
		{policies, into(&a.policies)}, {people, into(&a.people)}, {connections, into(&a.connections)}, {canonical, into(&a.canonical)},
	} {
		records, err := a.all(collection.query)
		if err != nil {
			return err
		}
		for _, r := range records {
			collection.keep(r)
		}
	}
	return nil
}
