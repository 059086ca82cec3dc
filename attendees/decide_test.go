package attendees

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees/mappings"
)

var (
	before = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	now    = before.Add(time.Hour)
)

const (
	ana, ana2 = "ana@first.example", "ana@second.example"
	ben, ben2 = "ben@first.example", "ben@second.example"
)

var people = mappings.NewTable([]mappings.Mapping{
	{Primary: ana, Secondaries: []string{ana2}}, {Primary: ben, Secondaries: []string{ben2}},
})

func guest(address, response string) Guest {
	return Guest{Address: address, Response: response}
}

func guests(addresses ...string) (all []Guest) {
	for _, address := range addresses {
		all = append(all, guest(address, "needsAction"))
	}
	return all
}

// meeting is an event of somebody else, observed in the calendar k.
func meeting(all ...Guest) Event {
	return Event{Guests: all, Organizer: "gm@first.example", Inside: true, Editable: true, Updated: now, Copy: "k"}
}

func entry(state State) Entry {
	return Entry{State: state, Primary: ana, At: before, Copy: "k"}
}

// shown is an entry for a comparison: its state, and what else is set.
func shown(e Entry) string {
	text := string(e.State)
	if e.Declined {
		text += " declined"
	}
	if e.State != None && e.Primary != ana {
		text += " of " + e.Primary
	}
	return text
}

// outcomeOf is what a decision makes of an address: what is done, and its entry.
func outcomeOf(d Decision, address string) string {
	text := ""
	if slices.Contains(d.Add, address) {
		text += "add, "
	}
	if slices.Contains(d.Remove, address) {
		text += "remove, "
	}
	if e, kept := d.Entries[address]; kept {
		return text + shown(e)
	}
	return text + "none"
}

// line is a line of the table of decisions: where all of its conditions hold (words of a
// list; "" is any), its outcome follows. "same" is the entry as it was.
type line struct{ entry, guest, primary, trusted, outcome string }

// table has each combination in exactly one line.
var table = []line{
	{entry: "none", guest: "absent", primary: "invited", outcome: "add, adding"},
	{entry: "none", guest: "absent", primary: "declined gone", outcome: "none"},
	{entry: "none", guest: "present refused", primary: "invited declined", outcome: "theirs"},
	{entry: "none", guest: "present refused", primary: "gone", outcome: "none"},
	{entry: "adding", guest: "absent", primary: "invited", outcome: "add, adding"},
	{entry: "adding", guest: "absent", primary: "declined gone", outcome: "none"},
	{entry: "adding added withdrawing refusing", guest: "present refused", primary: "invited declined", outcome: "added"},
	{entry: "adding added withdrawing refusing", guest: "present", primary: "gone", outcome: "remove, withdrawing"},
	{entry: "adding added withdrawing refusing", guest: "refused", primary: "gone", outcome: "remove, withdrawing declined"},
	{entry: "added", guest: "absent", trusted: "yes", outcome: "removed"},
	{entry: "added", guest: "absent", trusted: "no", outcome: "same"},
	{entry: "theirs", guest: "absent", outcome: "removed"},
	{entry: "theirs", guest: "present refused", outcome: "same"},
	{entry: "removed declined", guest: "present refused", outcome: "theirs"},
	{entry: "removed declined", guest: "absent", outcome: "same"},
	{entry: "withdrawing", guest: "absent", primary: "invited", outcome: "add, adding"},
	{entry: "withdrawing", guest: "absent", primary: "declined gone", outcome: "none"},
	{entry: "refusing", guest: "absent", outcome: "declined declined"},
}

// combination is what the conditions of a line are about.
type combination struct{ entry, guest, primary, trusted string }

// combinations are all that there are.
func combinations() (all []combination) {
	for _, entry := range []string{"none", "adding", "added", "theirs", "removed", "declined", "withdrawing", "refusing"} {
		for _, guest := range []string{"absent", "present", "refused"} {
			for _, primary := range []string{"invited", "declined", "gone"} {
				for _, trusted := range []string{"yes", "no"} {
					all = append(all, combination{entry, guest, primary, trusted})
				}
			}
		}
	}
	return all
}

// situation is the event and the entries of a combination. A refusing entry is one that had
// declined when it was withdrawn.
func (c combination) situation() (Event, map[string]Entry) {
	event := meeting(guests("gm@first.example")...)
	switch c.primary {
	case "invited":
		event.Guests = append(event.Guests, guests(ana)...)
	case "declined":
		event.Guests = append(event.Guests, guest(ana, "declined"))
	}
	switch c.guest {
	case "present":
		event.Guests = append(event.Guests, guest(ana2, "accepted"))
	case "refused":
		event.Guests = append(event.Guests, guest(ana2, "declined"))
	}
	if c.trusted == "no" {
		event.Copy = "other"
	}
	switch c.entry {
	case "none":
		return event, nil
	case "refusing":
		refusing := entry(Withdrawing)
		refusing.Declined = true
		return event, map[string]Entry{ana2: refusing}
	case "declined":
		declined := entry(Declined)
		declined.Declined = true
		return event, map[string]Entry{ana2: declined}
	}
	return event, map[string]Entry{ana2: entry(State(c.entry))}
}

func (l line) holds(c combination) bool {
	has := func(words, word string) bool {
		return words == "" || slices.Contains(strings.Fields(words), word)
	}
	return has(l.entry, c.entry) && has(l.guest, c.guest) && has(l.primary, c.primary) && has(l.trusted, c.trusted)
}

func TestDecide_EveryCombination_HasOneLine(t *testing.T) {
	t.Parallel()
	met := map[int]bool{}
	for _, c := range combinations() {
		lines := 0
		for i, l := range table {
			if !l.holds(c) {
				continue
			}
			lines++
			met[i] = true
			event, entries := c.situation()
			want := l.outcome
			if want == "same" {
				want = shown(entries[ana2])
			}
			if got := outcomeOf(Decide(event, entries, nil, people.Secondaries), ana2); got != want {
				t.Errorf("%+v: %s, want %s", c, got, want)
			}
		}
		if lines != 1 {
			t.Errorf("%+v: %d lines of the table", c, lines)
		}
	}
	for i, l := range table {
		if !met[i] {
			t.Errorf("no combination meets %+v", l)
		}
	}
}

// frozen are the events whose guests are never changed. unknown are those whose list does
// not show who is no guest.
var frozen = map[string]struct {
	freeze  func(e *Event)
	unknown bool
}{
	"ended":        {freeze: func(e *Event) { e.Ended = true }},
	"not editable": {freeze: func(e *Event) { e.Editable = false }},
	"cut":          {freeze: func(e *Event) { e.Omitted = true }, unknown: true},
	"cancelled":    {freeze: func(e *Event) { e.Cancelled = true }, unknown: true},
}

func TestDecide_FrozenEvent_ChangesNoGuest(t *testing.T) {
	t.Parallel()
	for name, how := range frozen {
		for _, c := range combinations() {
			event, entries := c.situation()
			how.freeze(&event)
			d := Decide(event, entries, nil, people.Secondaries)
			if len(d.Add)+len(d.Remove) > 0 {
				t.Errorf("%s: %+v: add %v, remove %v", name, c, d.Add, d.Remove)
			}
			if how.unknown && c.guest == "absent" && !maps.Equal(d.Entries, entries) {
				t.Errorf("%s: %+v: %v, but it may be a guest", name, c, d.Entries)
			}
		}
	}
}

// What a frozen event shows is noted.
func TestDecide_EndedEvent_NotesWhatItShows(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		combination
		want string
	}{
		{combination{"adding", "present", "invited", "yes"}, "added"},
		{combination{"adding", "present", "gone", "yes"}, "added"},
		{combination{"adding", "absent", "invited", "yes"}, "adding"},
		{combination{"adding", "absent", "gone", "yes"}, "none"},
		{combination{"added", "absent", "invited", "yes"}, "removed"},
		{combination{"added", "present", "gone", "yes"}, "added"},
		{combination{"withdrawing", "present", "gone", "yes"}, "withdrawing"},
		{combination{"withdrawing", "absent", "invited", "yes"}, "none"},
		{combination{"refusing", "absent", "gone", "yes"}, "declined declined"},
		{combination{"theirs", "absent", "invited", "yes"}, "removed"},
		{combination{"none", "absent", "invited", "yes"}, "none"},
		{combination{"none", "present", "invited", "yes"}, "theirs"},
	} {
		event, entries := row.situation()
		event.Ended = true
		if got := outcomeOf(Decide(event, entries, nil, people.Secondaries), ana2); got != row.want {
			t.Errorf("%+v: %s, want %s", row.combination, got, row.want)
		}
	}
}

func TestDecide_CutList_KeepsWhoMayBeKept(t *testing.T) {
	t.Parallel()
	for _, state := range []State{Added, Withdrawing} {
		event := meeting(guests(ana2)...) // ana may be on the part that is cut
		event.Omitted = true
		d := Decide(event, map[string]Entry{ana2: entry(state)}, nil, people.Secondaries)
		if got := outcomeOf(d, ana2); got != string(state) {
			t.Errorf("%s: %s", state, got)
		}
	}
}

func TestDecide_Entries_NameObservationAndPrimary(t *testing.T) {
	t.Parallel()
	both := mappings.NewTable([]mappings.Mapping{{Primary: ana, Secondaries: []string{ana2}}, {Primary: ben, Secondaries: []string{ana2}}})
	kept := Entry{State: Added, Primary: ben, At: before, Copy: "other"}
	for name, row := range map[string]struct {
		event   Event
		entries map[string]Entry
		want    Entry
		changes []Changed
	}{
		"added for the first who invites": {
			meeting(guests(ben, ana)...), nil,
			Entry{State: Adding, Primary: ana, Copy: "k"},
			[]Changed{{Address: ana2, Primary: ana, To: Adding}},
		},
		"not for one who declined": {
			meeting(guest(ben, "accepted"), guest(ana, "declined")), nil,
			Entry{State: Adding, Primary: ben, Copy: "k"},
			[]Changed{{Address: ana2, Primary: ben, To: Adding}},
		},
		"confirmed by this calendar": {
			meeting(guests(ana, ana2)...), map[string]Entry{ana2: {State: Adding, Primary: ana, Copy: "other"}},
			Entry{State: Added, Primary: ana, At: now, Copy: "k"},
			[]Changed{{Address: ana2, Primary: ana, From: Adding, To: Added}},
		},
		"kept by who invited it, even with others": {meeting(guests(ana, ben, ana2)...), map[string]Entry{ana2: kept}, kept, nil},
		"taken over by another who keeps it": {
			meeting(guests(ana, ana2)...), map[string]Entry{ana2: kept},
			Entry{State: Added, Primary: ana, At: before, Copy: "other"},
			[]Changed{{Address: ana2, Primary: ana, From: Added, To: Added}},
		},
	} {
		d := Decide(row.event, row.entries, nil, both.Secondaries)
		if d.Entries[ana2] != row.want || !reflect.DeepEqual(d.Changes, row.changes) {
			t.Errorf("%s: %+v, %+v; want %+v, %+v", name, d.Entries[ana2], d.Changes, row.want, row.changes)
		}
	}
}

func TestDecide_Addresses_AreComparedWithoutCase(t *testing.T) {
	t.Parallel()
	shouted := func(string) []string { return []string{"ANA@Second.Example"} }
	d := Decide(meeting(guests("Ana@First.EXAMPLE", "aNA@second.example")...), nil, nil, shouted)
	if got := outcomeOf(d, ana2); got != "theirs" {
		t.Errorf("a guest in other letters is %s", got)
	}
	d = Decide(meeting(guests("Ana@First.EXAMPLE")...), nil, nil, shouted)
	if !slices.Equal(d.Add, []string{ana2}) || outcomeOf(d, ana2) != "add, adding" {
		t.Errorf("added as %v, %v", d.Add, d.Entries)
	}
	event := meeting(guests(ana)...)
	event.Organizer = "Ana@SECOND.example"
	if len(Decide(event, nil, nil, shouted).Add) > 0 {
		t.Error("the organizer was added in other letters")
	}
	for _, responses := range [][2]string{{"accepted", "declined"}, {"declined", "accepted"}} {
		twice := meeting(guest(ana, responses[0]), guest("ANA@first.example", responses[1]))
		if d := Decide(twice, nil, nil, shouted); len(d.Add) > 0 {
			t.Errorf("who declined and is listed twice invites %v", d.Add)
		}
	}
}

func TestDecide_RoomsAndOrganizer_AreLeftAlone(t *testing.T) {
	t.Parallel()
	room := Guest{Address: ana, Response: "accepted", Resource: true}
	person := guest("ANA@first.example", "accepted")
	owned := meeting(guests(ana, ben)...)
	owned.Organizer = ana2
	ownedAndThere := meeting(guests(ana, ana2)...)
	ownedAndThere.Organizer = ana2
	left := meeting(guests(ana2)...)
	left.Organizer = ana2
	for name, row := range map[string]struct {
		event   Event
		entries map[string]Entry
		want    string
	}{
		"a room invites nobody":             {meeting(room), nil, "none"},
		"a room that is listed as a person": {meeting(room, person), nil, "none"},
		"a person who is listed as a room":  {meeting(person, room), nil, "none"},
		"a room keeps nobody": {
			meeting(room, guest(ana2, "")), map[string]Entry{ana2: entry(Added)}, "remove, withdrawing",
		},
		"the organizer is not added":           {owned, nil, "none"},
		"the organizer is not noted":           {ownedAndThere, nil, "none"},
		"the organizer is not taken back":      {left, map[string]Entry{ana2: entry(Added)}, "added"},
		"an attempt for the organizer is over": {owned, map[string]Entry{ana2: entry(Adding)}, "none"},
	} {
		if got := outcomeOf(Decide(row.event, row.entries, nil, people.Secondaries), ana2); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

// At an event of an outsider nobody is added, what was added is taken back, and what people
// did is noted as anywhere.
func TestDecide_Outsiders_GetNoAddress(t *testing.T) {
	t.Parallel()
	for _, c := range combinations() {
		event, entries := c.situation()
		inside := Decide(event, entries, nil, people.Secondaries)
		event.Inside = false
		d := Decide(event, entries, nil, people.Secondaries)
		want := outcomeOf(inside, ana2)
		switch {
		case entries[ana2].Ours() && c.guest == "present":
			want = "remove, withdrawing"
		case entries[ana2].Ours() && c.guest == "refused":
			want = "remove, withdrawing declined"
		case len(inside.Add) > 0:
			want = "none"
		}
		if got := outcomeOf(d, ana2); got != want {
			t.Errorf("%+v: %s, want %s", c, got, want)
		}
	}
}

func TestDecide_AddedForOptionalGuestsAlone_IsOptional(t *testing.T) {
	t.Parallel()
	shared := func(string) []string { return []string{"team@second.example"} }
	need := func(address, response string, optional bool) Guest {
		return Guest{Address: address, Response: response, Optional: optional}
	}
	for name, row := range map[string]struct {
		guests []Guest
		want   bool
	}{
		"an optional guest":               {[]Guest{need(ana, "", true)}, true},
		"two of them":                     {[]Guest{need(ana, "", true), need(ben, "", true)}, true},
		"one must come":                   {[]Guest{need(ana, "", true), need(ben, "", false)}, false},
		"who must come declined":          {[]Guest{need(ana, "", true), need(ben, "declined", false)}, true},
		"listed twice, once optional":     {[]Guest{need(ana, "", true), need("ANA@first.example", "", false)}, false},
		"listed twice, optional the last": {[]Guest{need(ana, "", false), need("ANA@first.example", "", true)}, false},
		"listed twice, optional in both":  {[]Guest{need(ana, "", true), need("ANA@first.example", "", true)}, true},
	} {
		d := Decide(meeting(row.guests...), nil, nil, shared)
		if len(d.Add) != 1 || (len(d.Optional) == 1) != row.want {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestDecide_Trust_NeedsCalendarAndTime(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(e *Event)
		want   string
	}{
		"the calendar that confirmed it": {func(*Event) {}, "removed"},
		"another calendar":               {func(e *Event) { e.Copy = "other" }, "added"},
		"an observation from before":     {func(e *Event) { e.Updated = before.Add(-time.Second) }, "added"},
		"an observation just older":      {func(e *Event) { e.Updated = before.Add(-1) }, "added"},
	} {
		event := meeting(guests(ana)...)
		row.change(&event)
		d := Decide(event, map[string]Entry{ana2: entry(Added)}, nil, people.Secondaries)
		if got := outcomeOf(d, ana2); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

// Addresses that are mapped to each other would else keep each other for ever.
func TestDecide_GuestByUs_InvitesNobody(t *testing.T) {
	t.Parallel()
	circle := mappings.NewTable([]mappings.Mapping{{Primary: ana, Secondaries: []string{ana2}}, {Primary: ana2, Secondaries: []string{ana}}})
	entries := map[string]Entry{ana2: entry(Added)}
	d := Decide(meeting(guests(ana2)...), entries, nil, circle.Secondaries)
	if got := outcomeOf(d, ana2); got != "remove, withdrawing" || len(d.Add) > 0 {
		t.Errorf("the address that is left: %s, and %v is added", got, d.Add)
	}
	d = Decide(meeting(guests(ana2)...), nil, nil, circle.Secondaries)
	if !slices.Equal(d.Add, []string{ana}) {
		t.Errorf("whom a person invited adds %v", d.Add)
	}
}

func TestDecide_Arguments_StayAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, c := range combinations() {
		event, entries := c.situation()
		was := fmt.Sprint(event.Guests, entries)
		Decide(event, entries, entries, people.Secondaries)
		if is := fmt.Sprint(event.Guests, entries); is != was {
			t.Errorf("%+v: %s, was %s", c, is, was)
		}
	}
}
