package decide_test

import (
	"testing"
	"time"

	"questscheduler/attendees/decide"
	"questscheduler/internal/attendee"
)

// Each row is an exception whose series' record has an entry of a state, and what becomes of
// its own record, which has none.
func TestDecide_ExceptionWithoutEntry_HasThatOfItsSeries(t *testing.T) {
	t.Parallel()
	const none, here, there = "none", "absent", "present"
	for _, row := range []struct {
		series  attendee.State
		guest   string
		invited bool          // the primary address is a guest
		updated time.Duration // of the exception, after the series' confirmation
		want    string
	}{
		{attendee.Removed, here, true, time.Hour, none}, // not added: see the series
		{attendee.Removed, there, true, time.Hour, "theirs"},
		{attendee.Declined, here, true, time.Hour, none},
		{attendee.Declined, there, true, time.Hour, "theirs"},
		{attendee.Theirs, here, true, time.Hour, "removed"},
		{attendee.Theirs, here, true, 0, "add, adding"},
		{attendee.Theirs, here, true, -time.Hour, "add, adding"},
		{attendee.Theirs, there, true, time.Hour, none},
		{attendee.Theirs, there, false, time.Hour, none},
		{attendee.Added, there, true, time.Hour, "added"},
		{attendee.Added, there, true, 0, "added"},
		{attendee.Added, there, true, -time.Hour, "theirs"},
		{attendee.Added, there, false, -time.Hour, none},
		{attendee.Added, there, false, time.Hour, "remove, withdrawing"},
		{attendee.Added, here, true, time.Hour, "removed"},
		{attendee.Added, here, true, 0, "add, adding"},
		{attendee.Added, here, true, -time.Hour, "add, adding"},
		{attendee.Added, here, false, -time.Hour, none},
		{attendee.Adding, here, true, time.Hour, "add, adding"},
		{attendee.Adding, here, false, time.Hour, none},
		{attendee.Adding, there, true, time.Hour, "added"},
		{attendee.Adding, there, false, time.Hour, "remove, withdrawing"},
		{attendee.Withdrawing, here, true, time.Hour, "add, adding"},
		{attendee.Withdrawing, here, false, time.Hour, none},
		{attendee.Withdrawing, there, true, time.Hour, "added"},
		{attendee.Withdrawing, there, false, time.Hour, "remove, withdrawing"},
	} {
		event := meeting(guests("gm@first.example")...)
		event.Updated = before.Add(row.updated)
		if row.invited {
			event.Guests = append(event.Guests, guests(ana)...)
		}
		if row.guest == there {
			event.Guests = append(event.Guests, guests(ana2)...)
		}
		inherited := map[string]attendee.Entry{ana2: entry(row.series)}
		d := decide.Decide(event, nil, inherited, people.Secondaries)
		if got := outcome(d, ana2); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
		if row.want == none && len(d.Changes) > 0 {
			t.Errorf("%+v: noted as %+v", row, d.Changes)
		}
	}
}

func TestDecide_ExceptionWithEntry_IgnoresItsSeries(t *testing.T) {
	t.Parallel()
	for _, c := range combinations() {
		for _, state := range []attendee.State{
			attendee.Adding, attendee.Added, attendee.Theirs, attendee.Removed, attendee.Declined, attendee.Withdrawing,
		} {
			if c.entry == "none" {
				continue
			}
			event, entries := c.situation()
			alone := decide.Decide(event, entries, nil, people.Secondaries)
			d := decide.Decide(event, entries, map[string]attendee.Entry{ana2: entry(state)}, people.Secondaries)
			if got, want := d.Entries[ana2], alone.Entries[ana2]; got != want {
				t.Errorf("%+v of a series with %s: %+v, want %+v", c, state, got, want)
			}
		}
	}
}

// What we took back from one date, while it stayed in the series, was removed by nobody: it
// is added again when its primary address is invited to that date again.
func TestDecide_TakenBackFromException_IsNotTakenAsRemoved(t *testing.T) {
	t.Parallel()
	inherited := map[string]attendee.Entry{ana2: entry(attendee.Added)}
	entries := map[string]attendee.Entry{}
	for i, step := range []struct {
		guests []decide.Guest
		want   string
	}{
		{guests(ana, ana2), "added"},
		{guests(ben2, ana2), "remove, withdrawing"},
		{guests(ben2), ""},
		{guests(ben2), ""},
		{guests(ben2, ana), "add, adding"},
		{guests(ben2, ana, ana2), "added"},
		{guests(ben2, ana), "removed"},
	} {
		event := meeting(step.guests...)
		event.Updated = now.Add(time.Duration(i) * time.Minute)
		d := decide.Decide(event, entries, inherited, people.Secondaries)
		if got := outcome(d, ana2); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
		entries = d.Entries
	}
}

func TestDecide_CutListOfException_ShowsNoRemoval(t *testing.T) {
	t.Parallel()
	for _, state := range []attendee.State{attendee.Adding, attendee.Added, attendee.Theirs, attendee.Withdrawing, attendee.Removed} {
		event := meeting(guests(ana)...)
		event.Omitted = true
		d := decide.Decide(event, nil, map[string]attendee.Entry{ana2: entry(state)}, people.Secondaries)
		if len(d.Entries)+len(d.Changes)+len(d.Add)+len(d.Remove) > 0 {
			t.Errorf("%s: %+v", state, d)
		}
	}
}

// What is known of a series counts for its later part, too, and is kept for it.
func TestDecide_LaterPartOfASeries_KeepsItsEntries(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		first attendee.State
		guest bool
		want  attendee.State
	}{
		{attendee.Added, true, attendee.Added},
		{attendee.Added, false, attendee.Removed},
		{attendee.Theirs, true, attendee.Theirs},
		{attendee.Theirs, false, attendee.Removed},
		{attendee.Removed, false, attendee.Removed},
		{attendee.Removed, true, attendee.Theirs},
		{attendee.Declined, false, attendee.Declined},
	} {
		event := meeting(guests(ana)...)
		event.Split, event.Updated = true, before.Add(time.Hour)
		if row.guest {
			event.Guests = append(event.Guests, guests(ana2)...)
		}
		d := decide.Decide(event, nil, map[string]attendee.Entry{ana2: entry(row.first)}, people.Secondaries)
		if d.Entries[ana2].State != row.want || len(d.Changes) != 1 || len(d.Add)+len(d.Remove) > 0 {
			t.Errorf("%+v: %+v", row, d)
		}
		if again := decide.Decide(event, d.Entries, nil, people.Secondaries); len(again.Changes)+len(again.Add)+len(again.Remove) > 0 {
			t.Errorf("%+v, once the first part is forgotten: %+v", row, again)
		}
	}
}

// Each row is the first observation of an exception, and what it goes on inheriting of an address.
func TestDecide_FirstOfAnException_SaysWhatItInherits(t *testing.T) {
	t.Parallel()
	first := before.Add(time.Hour)
	for _, row := range []struct {
		series  attendee.State
		at      time.Time // of the series' confirmation
		present bool
		want    attendee.State
		since   time.Time // of the entry
	}{
		{attendee.None, time.Time{}, true, attendee.Theirs, first},
		{attendee.None, time.Time{}, false, attendee.None, time.Time{}},
		{attendee.Theirs, before, true, attendee.Theirs, before},
		{attendee.Theirs, before, false, attendee.Theirs, before}, // a person removed it
		{attendee.Theirs, first, false, attendee.None, time.Time{}},
		{attendee.Added, before, true, attendee.Added, first},
		{attendee.Added, before, false, attendee.Added, before}, // a person removed it
		{attendee.Added, first, false, attendee.None, time.Time{}},
		{attendee.Added, first.Add(time.Second), true, attendee.Theirs, first}, // it was there before
		{attendee.Adding, time.Time{}, true, attendee.Added, first},
		{attendee.Adding, time.Time{}, false, attendee.None, time.Time{}},
		{attendee.Withdrawing, before, true, attendee.Added, first},
		{attendee.Withdrawing, before, false, attendee.None, time.Time{}},
		{attendee.Removed, before, true, attendee.Theirs, first},
		{attendee.Removed, before, false, attendee.Removed, before},
		{attendee.Declined, before, true, attendee.Theirs, first},
		{attendee.Declined, before, false, attendee.Declined, before},
	} {
		event := meeting(guests(ana)...)
		event.Updated = first
		if row.present {
			event.Guests = append(event.Guests, guests(ana2)...)
		}
		inherited := map[string]attendee.Entry{}
		if row.series != attendee.None {
			inherited[ana2] = attendee.Entry{State: row.series, Primary: ana, At: row.at}
		}
		d := decide.Decide(event, nil, inherited, people.Secondaries)
		if got, kept := d.Inherited[ana2]; got.State != row.want || !got.At.Equal(row.since) || kept != (row.want != attendee.None) {
			t.Errorf("%+v: %+v", row, got)
		}
		if own := decide.Decide(
			event, map[string]attendee.Entry{ana2: entry(attendee.Theirs)}, inherited, people.Secondaries,
		); len(own.Inherited) > 0 {
			t.Errorf("%+v, with an entry of its own: %+v", row, own.Inherited)
		}
	}
}

// What an exception showed when its guests were first read is its own, and is noted.
func TestDecide_FoundAtAnException_IsNoted(t *testing.T) {
	t.Parallel()
	for since, want := range map[time.Time]string{{}: "none", before: "theirs", now: "none"} {
		event := meeting(guests(ana, ana2)...)
		event.Since = since
		d := decide.Decide(event, nil, map[string]attendee.Entry{ana2: entry(attendee.Theirs)}, people.Secondaries)
		if got := outcome(d, ana2); got != want {
			t.Errorf("since %v: %s", since, got)
		}
	}
}

// What an exception showed when its guests were first read, and shows no more, a person removed:
// also in the moment in which it was first read.
func TestDecide_FoundAtAnException_AndGone_WasRemoved(t *testing.T) {
	t.Parallel()
	for _, state := range []attendee.State{attendee.Theirs, attendee.Added} {
		for updated, want := range map[time.Time]string{
			before.Add(-time.Second): "add, adding", before: "removed", before.Add(time.Second): "removed",
		} {
			event := meeting(guests(ana)...)
			event.Since, event.Updated = before, updated
			d := decide.Decide(event, nil, map[string]attendee.Entry{ana2: entry(state)}, people.Secondaries)
			if got := outcome(d, ana2); got != want {
				t.Errorf("%s, as it was at %v: %s, want %s", state, updated, got, want)
			}
		}
	}
}

func TestDecide_Concerned_IsWhoHasSecondAddresses(t *testing.T) {
	t.Parallel()
	outside := meeting(guests(ana)...)
	outside.Inside = false
	for _, row := range []struct {
		event decide.Event
		want  bool
	}{
		{meeting(guests(ana)...), true},
		{meeting(guest(ana, "declined")), true},
		{meeting(guests(ana, ana2)...), true},
		{meeting(guests("gm@first.example", ana2)...), false},
		{outside, false},
	} {
		if d := decide.Decide(row.event, nil, nil, people.Secondaries); d.Concerned != row.want {
			t.Errorf("%+v: %+v", row, d)
		}
	}
}
