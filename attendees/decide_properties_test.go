package attendees

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/attendees/mappings"
)

var (
	primaries   = []string{ana, ben, "cho@first.example"}
	secondaries = []string{ana2, ben2, "cho@second.example", "shared@second.example", organizer}
)

// organizer is a second address that organizes the event.
const organizer = "gm@second.example"

// anyMappings gives each primary some second addresses; some are of several.
func anyMappings(t *rapid.T) mappings.Table {
	var list []mappings.Mapping
	for _, primary := range primaries {
		if some := rapid.SliceOfNDistinct(rapid.SampledFrom(secondaries), 0, 2, rapid.ID).Draw(t, primary); len(some) > 0 {
			list = append(list, mappings.Mapping{Primary: primary, Secondaries: some})
		}
	}
	return mappings.NewTable(list)
}

func anyGuests(t *rapid.T) (all []Guest) {
	for _, address := range rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Concat(primaries, secondaries)), 0, 6,
		rapid.ID).Draw(t, "guests") {
		all = append(all, Guest{
			Address:  address,
			Response: rapid.SampledFrom([]string{"needsAction", "accepted", "declined"}).Draw(t, "response"),
			Resource: rapid.IntRange(0, 9).Draw(t, "room") == 0,
		})
	}
	return all
}

func anyEntries(t *rapid.T, name string) map[string]Entry {
	entries := map[string]Entry{}
	states := []State{Adding, Added, Theirs, Removed, Withdrawing, Declined}
	for _, address := range secondaries {
		if rapid.Bool().Draw(t, name) {
			entries[address] = Entry{
				State: rapid.SampledFrom(states).Draw(t, name), Primary: rapid.SampledFrom(primaries).Draw(t, name),
				At:       now.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, name)) * time.Hour),
				Copy:     rapid.SampledFrom([]string{"k", "other"}).Draw(t, name),
				Declined: rapid.Bool().Draw(t, name),
			}
		}
	}
	return entries
}

// patched is the event after a decision was written.
func patched(e Event, d Decision) Event {
	e.Guests = slices.DeleteFunc(
		slices.Clone(e.Guests), func(g Guest) bool { return slices.Contains(d.Remove, mappings.Fold(g.Address)) },
	)
	e.Guests = append(e.Guests, guests(d.Add...)...)
	if len(d.Add)+len(d.Remove) > 0 {
		e.Updated = e.Updated.Add(time.Minute)
	}
	return e
}

func isNothing(d Decision, entries map[string]Entry) bool {
	return len(d.Add)+len(d.Remove)+len(d.Changes) == 0 && maps.Equal(d.Entries, entries)
}

// converges holds for whatever the record and that of the series may contain: one write
// brings an event to where nothing is to do, and its observation to where nothing is to note.
func converges(t *rapid.T) {
	event := meeting(anyGuests(t)...)
	event.Organizer = organizer
	event.Inside = rapid.IntRange(0, 4).Draw(t, "outsider") > 0
	event.Editable = rapid.IntRange(0, 4).Draw(t, "not editable") > 0
	event.Ended = rapid.IntRange(0, 4).Draw(t, "ended") == 0
	event.Omitted = rapid.IntRange(0, 4).Draw(t, "cut") == 0
	event.Cancelled = rapid.IntRange(0, 4).Draw(t, "cancelled") == 0
	table, inherited := anyMappings(t), map[string]Entry{}
	entries := anyEntries(t, "entry")
	if rapid.Bool().Draw(t, "exception") {
		inherited = anyEntries(t, "inherited")
	}
	first := Decide(event, entries, inherited, table.Secondaries)
	sound(t, event, first, table)
	event = patched(event, first)
	second := Decide(event, first.Entries, inherited, table.Secondaries)
	if len(second.Add)+len(second.Remove) > 0 {
		t.Fatalf("after the write: add %v, remove %v", second.Add, second.Remove)
	}
	if third := Decide(event, second.Entries, inherited, table.Secondaries); !isNothing(third, second.Entries) {
		t.Fatalf("after its observation: %+v, entries were %v", third, second.Entries)
	}
}

// sound is what holds for every decision.
func sound(t *rapid.T, event Event, d Decision, table mappings.Table) {
	frozen := event.Cancelled || event.Ended || event.Omitted || !event.Editable
	if frozen && len(d.Add)+len(d.Remove) > 0 {
		t.Fatalf("a frozen event is changed: %+v", d)
	}
	if !slices.IsSorted(d.Add) || !slices.IsSorted(d.Remove) {
		t.Fatalf("not sorted: %v, %v", d.Add, d.Remove)
	}
	for _, address := range d.Add {
		invited := slices.ContainsFunc(event.Guests, func(g Guest) bool {
			return !g.Resource && g.Response != "declined" && slices.Contains(table.Secondaries(g.Address), address)
		})
		if !event.Inside || !invited || address == organizer || present(event, address) || d.Entries[address].State != Adding {
			t.Fatalf("%s is added: %+v", address, d)
		}
	}
	for _, address := range d.Remove {
		if address == organizer || !present(event, address) || d.Entries[address].State != Withdrawing {
			t.Fatalf("%s is removed: %+v", address, d)
		}
	}
}

func present(e Event, address string) bool {
	return slices.ContainsFunc(e.Guests, func(g Guest) bool { return mappings.Fold(g.Address) == address })
}

func TestDecide_OneWrite_Converges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, converges)
}

func FuzzDecide(f *testing.F) { f.Fuzz(rapid.MakeFuzz(converges)) }

func TestDecide_NoMappingsNoEntries_DoesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		event := meeting(anyGuests(t)...)
		if d := Decide(event, nil, nil, mappings.Table{}.Secondaries); !isNothing(d, nil) {
			t.Fatalf("%+v", d)
		}
	})
}

// life is an event over time, with what really happened to its guests.
type life struct {
	event   Event
	table   mappings.Table
	entries map[string]Entry
	// ours are the guests whom we added; gone are addresses with an entry that a person
	// removed, or that had declined, and that no person invited since.
	ours, gone map[string]bool
	minutes    int
}

func (l *life) tick() {
	l.minutes++
	l.event.Updated = now.Add(time.Duration(l.minutes) * time.Minute)
}

// people change guests and answers.
func (l *life) people(t *rapid.T) {
	old := l.event
	l.tick()
	l.event.Guests = nil
	for _, g := range old.Guests {
		switch rapid.SampledFrom([]string{"stay", "stay", "stay", "leave", "decline", "accept"}).Draw(t, "guest "+g.Address) {
		case "decline":
			g.Response = "declined"
		case "accept":
			g.Response = "accepted"
		case "leave":
			_, noted := l.entries[g.Address]
			delete(l.ours, g.Address)
			l.gone[g.Address] = noted
			continue
		}
		l.event.Guests = append(l.event.Guests, g)
	}
	for _, address := range slices.Concat(primaries, secondaries) {
		if !present(old, address) && rapid.IntRange(0, 4).Draw(t, "invite "+address) == 0 {
			l.event.Guests = append(l.event.Guests, guest(address, "needsAction"))
			delete(l.gone, address)
		}
	}
}

// decide decides and takes the entries, and finds what must never be decided.
func (l *life) decide(t *rapid.T, event Event) Decision {
	d := Decide(event, l.entries, nil, l.table.Secondaries)
	sound(t, event, d, l.table)
	for _, address := range d.Add {
		if l.gone[address] {
			t.Fatalf("%s is added again", address)
		}
	}
	for _, address := range d.Remove {
		if !l.ours[address] {
			t.Fatalf("%s is removed, whom a person invited", address)
		}
	}
	l.entries = d.Entries
	return d
}

// write carries a decision out.
func (l *life) write(d Decision) {
	for _, g := range l.event.Guests {
		if slices.Contains(d.Remove, g.Address) {
			delete(l.ours, g.Address)
			l.gone[g.Address] = g.Response == "declined"
		}
	}
	for _, address := range d.Add {
		l.ours[address] = true
	}
	l.event = patched(l.event, d)
	l.tick()
}

// settle lets the program work: it may be killed before and after a write, and read parts,
// until it is left to finish. No person interferes, since what a person does between a
// write and its observation is the same as the write.
func (l *life) settle(t *rapid.T) {
	for range rapid.IntRange(0, 3).Draw(t, "disturbances") {
		event := l.event
		switch rapid.SampledFrom([]string{"killed before", "killed after", "cut", "ended", "not editable", "cancelled"}).Draw(t, "disturbance") {
		case "killed before":
			l.decide(t, event)
			continue
		case "killed after":
			l.write(l.decide(t, event))
			continue
		case "cut":
			event.Omitted, event.Guests = true, event.Guests[:len(event.Guests)/2]
		case "ended":
			event.Ended = true
		case "not editable":
			event.Editable = false
		case "cancelled":
			event.Cancelled, event.Guests = true, nil
		}
		l.decide(t, event)
	}
	l.write(l.decide(t, l.event))
	if d := l.decide(t, l.event); len(d.Add)+len(d.Remove) > 0 {
		t.Fatalf("after the write: %+v", d)
	}
	if d := Decide(l.event, l.entries, nil, l.table.Secondaries); !isNothing(d, l.entries) {
		t.Fatalf("after its observation: %+v", d)
	}
}

func TestDecide_LifeOfAnEvent_RespectsPeople(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := &life{event: meeting(), entries: map[string]Entry{}, ours: map[string]bool{}, gone: map[string]bool{}}
		l.event.Organizer = organizer
		for i := range rapid.IntRange(1, 8).Draw(t, "steps") {
			if rapid.Bool().Draw(t, fmt.Sprint("mappings change ", i)) {
				l.table = anyMappings(t)
			} else {
				l.people(t)
			}
			l.settle(t)
		}
		l.table = mappings.Table{}
		l.settle(t)
		for address, added := range l.ours {
			if added {
				t.Fatalf("%s stays without a mapping: %+v", address, l.entries)
			}
		}
	})
}
