package attendees

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"questscheduler/attendees/mappings"
)

// Mappings as nobody should write them: empty, to themselves, twice.
func TestDecide_OddMappings_AddEachAddressOnce(t *testing.T) {
	t.Parallel()
	odd := func(string) []string { return []string{"", " ", ana2, ana, "ANA@second.example", ana2} }
	d := Decide(meeting(guests(ana)...), nil, nil, odd)
	if !slices.Equal(d.Add, []string{ana2}) || len(d.Entries) != 1 || len(d.Changes) != 1 {
		t.Errorf("%+v", d)
	}
	kept := map[string]Entry{ana: {State: Added, Primary: ana, At: before, Copy: "k"}}
	if d := Decide(meeting(guests(ana)...), kept, nil, odd); !slices.Equal(d.Remove, []string{ana}) {
		t.Errorf("a guest who is mapped to themselves keeps themselves: %+v", d)
	}
}

// The change of an entry that ends names whom it was for.
func TestDecide_EntryThatEnds_NamesItsPrimary(t *testing.T) {
	t.Parallel()
	tried := map[string]Entry{ana2: {State: Adding, Primary: ben, Copy: "k"}}
	want := []Changed{{Address: ana2, Primary: ben, From: Adding}}
	for name, inherited := range map[string]map[string]Entry{"of an event": nil, "of an exception": {ana2: entry(Removed)}} {
		d := Decide(meeting(), tried, inherited, people.Secondaries)
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
		event     Event
		inherited Entry
		want      string
		own       bool
	}{
		"theirs, there":                   {meeting(guests(ana, ana2)...), entry(Theirs), "none", false},
		"theirs, gone since":              {meeting(guests(ana)...), entry(Theirs), "removed", true},
		"theirs, there before":            {earlier(meeting(guests(ana, ana2)...)), entry(Theirs), "none", false},
		"theirs, not there yet":           {earlier(meeting(guests(ana)...)), entry(Theirs), "add, adding", true},
		"removed, not there before":       {earlier(meeting(guests(ana)...)), entry(Removed), "none", false},
		"added, there":                    {meeting(guests(ana, ana2)...), entry(Added), "added", true},
		"added, gone since":               {meeting(guests(ana)...), entry(Added), "removed", true},
		"added, there before":             {earlier(meeting(guests(ana, ana2)...)), entry(Added), "theirs", true},
		"added, not there yet":            {earlier(meeting(guests(ana)...)), entry(Added), "add, adding", true},
		"being added, not there":          {meeting(guests(ana)...), entry(Adding), "add, adding", true},
		"added by us, the primary's gone": {meeting(guests(ana2)...), entry(Added), "remove, withdrawing", true},
	} {
		d := Decide(row.event, nil, map[string]Entry{ana2: row.inherited}, people.Secondaries)
		if got := outcomeOf(d, ana2); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
		if _, own := d.Entries[ana2]; own != row.own {
			t.Errorf("%s: an entry of its own: %t", name, own)
		}
	}
}

// earlier is an event as it was before the entries.
func earlier(e Event) Event {
	e.Updated = before.Add(-time.Minute)
	return e
}

// A guest whom we added to the series invites nobody at its exceptions either.
func TestDecide_GuestByUsInSeries_InvitesNobody(t *testing.T) {
	t.Parallel()
	circle := mappings.NewTable([]mappings.Mapping{{Primary: ana, Secondaries: []string{ana2}}, {Primary: ana2, Secondaries: []string{ben2}}})
	d := Decide(meeting(guests(ana, ana2)...), nil, map[string]Entry{ana2: entry(Added)}, circle.Secondaries)
	if len(d.Add) > 0 || outcomeOf(d, ana2) != "added" {
		t.Errorf("%+v", d)
	}
}
