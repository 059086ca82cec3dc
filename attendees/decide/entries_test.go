package decide_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"questscheduler/attendees/decide"
	"questscheduler/internal/attendee"
	"questscheduler/internal/mapping"
)

// Mappings as nobody should write them: empty, to themselves, twice.
func TestDecide_OddMappings_AddEachAddressOnce(t *testing.T) {
	t.Parallel()
	odd := func(string) []string { return []string{"", " ", ana2, ana, "ANA@second.example", ana2} }
	d := decide.Decide(meeting(guests(ana)...), nil, nil, odd)
	if !slices.Equal(d.Add, []string{ana2}) || len(d.Entries) != 1 || len(d.Changes) != 1 {
		t.Errorf("%+v", d)
	}
	kept := map[string]attendee.Entry{ana: {State: attendee.Added, Primary: ana, At: before, Copy: "k"}}
	if d := decide.Decide(meeting(guests(ana)...), kept, nil, odd); !slices.Equal(d.Remove, []string{ana}) {
		t.Errorf("a guest who is mapped to themselves keeps themselves: %+v", d)
	}
}

// The change of an entry that ends names whom it was for.
func TestDecide_EntryThatEnds_NamesItsPrimary(t *testing.T) {
	t.Parallel()
	tried := map[string]attendee.Entry{ana2: {State: attendee.Adding, Primary: ben, Copy: "k"}}
	want := []decide.Changed{{Address: ana2, Primary: ben, From: attendee.Adding}}
	for name, inherited := range map[string]map[string]attendee.Entry{"of an event": nil, "of an exception": {ana2: entry(attendee.Removed)}} {
		d := decide.Decide(meeting(), tried, inherited, people.Secondaries)
		if !reflect.DeepEqual(d.Changes, want) {
			t.Errorf("%s: %+v, want %+v", name, d.Changes, want)
		}
		if _, kept := d.Entries[ana2]; kept != (inherited != nil) {
			t.Errorf("%s: its entry is kept: %t", name, kept)
		}
	}
}

// An exception without an entry of its own has what its series says of it.
func TestDecide_InheritedEntry_CountsWhereItIsFound(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		event     decide.Event
		inherited attendee.Entry
		want      string
		own       bool
	}{
		"theirs, there":                   {meeting(guests(ana, ana2)...), entry(attendee.Theirs), "none", false},
		"theirs, gone since":              {meeting(guests(ana)...), entry(attendee.Theirs), "removed", true},
		"theirs, there before":            {earlier(meeting(guests(ana, ana2)...)), entry(attendee.Theirs), "none", false},
		"theirs, not there yet":           {earlier(meeting(guests(ana)...)), entry(attendee.Theirs), "add, adding", true},
		"removed, not there before":       {earlier(meeting(guests(ana)...)), entry(attendee.Removed), "none", false},
		"added, there":                    {meeting(guests(ana, ana2)...), entry(attendee.Added), "added", true},
		"added, gone since":               {meeting(guests(ana)...), entry(attendee.Added), "removed", true},
		"added, there before":             {earlier(meeting(guests(ana, ana2)...)), entry(attendee.Added), "theirs", true},
		"added, not there yet":            {earlier(meeting(guests(ana)...)), entry(attendee.Added), "add, adding", true},
		"being added, not there":          {meeting(guests(ana)...), entry(attendee.Adding), "add, adding", true},
		"added by us, the primary's gone": {meeting(guests(ana2)...), entry(attendee.Added), "remove, withdrawing", true},
	} {
		d := decide.Decide(row.event, nil, map[string]attendee.Entry{ana2: row.inherited}, people.Secondaries)
		if got := outcome(d, ana2); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
		if _, own := d.Entries[ana2]; own != row.own {
			t.Errorf("%s: an entry of its own: %t", name, own)
		}
	}
}

// earlier is an event as it was before the entries.
func earlier(e decide.Event) decide.Event {
	e.Updated = before.Add(-time.Minute)
	return e
}

// A guest whom we added to the series invites nobody at its exceptions either.
func TestDecide_GuestByUsInSeries_InvitesNobody(t *testing.T) {
	t.Parallel()
	circle := mapping.New([]mapping.Mapping{{Primary: ana, Secondaries: []string{ana2}}, {Primary: ana2, Secondaries: []string{ben2}}})
	d := decide.Decide(meeting(guests(ana, ana2)...), nil, map[string]attendee.Entry{ana2: entry(attendee.Added)}, circle.Secondaries)
	if len(d.Add) > 0 || outcome(d, ana2) != "added" {
		t.Errorf("%+v", d)
	}
}
