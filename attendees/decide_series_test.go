package attendees

import (
	"testing"
	"time"
)

// Each row is an exception whose series' record has an entry of a state, and what becomes of
// its own record, which has none.
func TestDecide_ExceptionWithoutEntry_HasThatOfItsSeries(t *testing.T) {
	t.Parallel()
	const none, here, there = "none", "absent", "present"
	for _, row := range []struct {
		series  State
		guest   string
		invited bool          // the primary address is a guest
		updated time.Duration // of the exception, after the series' confirmation
		want    string
	}{
		{Removed, here, true, time.Hour, none}, // not added: see the series
		{Removed, there, true, time.Hour, "theirs"},
		{Declined, here, true, time.Hour, none},
		{Declined, there, true, time.Hour, "theirs"},
		{Theirs, here, true, time.Hour, "removed"},
		{Theirs, here, true, 0, "add, adding"},
		{Theirs, here, true, -time.Hour, "add, adding"},
		{Theirs, there, true, time.Hour, none},
		{Theirs, there, false, time.Hour, none},
		{Added, there, true, time.Hour, "added"},
		{Added, there, true, 0, "added"},
		{Added, there, true, -time.Hour, "theirs"},
		{Added, there, false, -time.Hour, none},
		{Added, there, false, time.Hour, "remove, withdrawing"},
		{Added, here, true, time.Hour, "removed"},
		{Added, here, true, 0, "add, adding"},
		{Added, here, true, -time.Hour, "add, adding"},
		{Added, here, false, -time.Hour, none},
		{Adding, here, true, time.Hour, "add, adding"},
		{Adding, here, false, time.Hour, none},
		{Adding, there, true, time.Hour, "added"},
		{Adding, there, false, time.Hour, "remove, withdrawing"},
		{Withdrawing, here, true, time.Hour, "add, adding"},
		{Withdrawing, here, false, time.Hour, none},
		{Withdrawing, there, true, time.Hour, "added"},
		{Withdrawing, there, false, time.Hour, "remove, withdrawing"},
	} {
		event := meeting(guests("gm@first.example")...)
		event.Updated = before.Add(row.updated)
		if row.invited {
			event.Guests = append(event.Guests, guests(ana)...)
		}
		if row.guest == there {
			event.Guests = append(event.Guests, guests(ana2)...)
		}
		inherited := map[string]Entry{ana2: entry(row.series)}
		d := Decide(event, nil, inherited, people.Secondaries)
		if got := outcomeOf(d, ana2); got != row.want {
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
		for _, state := range []State{
			Adding, Added, Theirs, Removed, Declined, Withdrawing,
		} {
			if c.entry == "none" {
				continue
			}
			event, entries := c.situation()
			alone := Decide(event, entries, nil, people.Secondaries)
			d := Decide(event, entries, map[string]Entry{ana2: entry(state)}, people.Secondaries)
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
	inherited := map[string]Entry{ana2: entry(Added)}
	entries := map[string]Entry{}
	for i, step := range []struct {
		guests []Guest
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
		d := Decide(event, entries, inherited, people.Secondaries)
		if got := outcomeOf(d, ana2); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
		entries = d.Entries
	}
}

func TestDecide_CutListOfException_ShowsNoRemoval(t *testing.T) {
	t.Parallel()
	for _, state := range []State{Adding, Added, Theirs, Withdrawing, Removed} {
		event := meeting(guests(ana)...)
		event.Omitted = true
		d := Decide(event, nil, map[string]Entry{ana2: entry(state)}, people.Secondaries)
		if len(d.Entries)+len(d.Changes)+len(d.Add)+len(d.Remove) > 0 {
			t.Errorf("%s: %+v", state, d)
		}
	}
}

// What is known of a series counts for its later part, too, and is kept for it.
func TestDecide_LaterPartOfASeries_KeepsItsEntries(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		first State
		guest bool
		want  State
	}{
		{Added, true, Added},
		{Added, false, Removed},
		{Theirs, true, Theirs},
		{Theirs, false, Removed},
		{Removed, false, Removed},
		{Removed, true, Theirs},
		{Declined, false, Declined},
	} {
		event := meeting(guests(ana)...)
		event.Split, event.Updated = true, before.Add(time.Hour)
		if row.guest {
			event.Guests = append(event.Guests, guests(ana2)...)
		}
		d := Decide(event, nil, map[string]Entry{ana2: entry(row.first)}, people.Secondaries)
		if d.Entries[ana2].State != row.want || len(d.Changes) != 1 || len(d.Add)+len(d.Remove) > 0 {
			t.Errorf("%+v: %+v", row, d)
		}
		if again := Decide(event, d.Entries, nil, people.Secondaries); len(again.Changes)+len(again.Add)+len(again.Remove) > 0 {
			t.Errorf("%+v, once the first part is forgotten: %+v", row, again)
		}
	}
}

// Each row is the first observation of an exception, and what it goes on inheriting of an address.
func TestDecide_FirstOfAnException_SaysWhatItInherits(t *testing.T) {
	t.Parallel()
	first := before.Add(time.Hour)
	for _, row := range []struct {
		series  State
		at      time.Time // of the series' confirmation
		present bool
		want    State
		since   time.Time // of the entry
	}{
		{None, time.Time{}, true, Theirs, first},
		{None, time.Time{}, false, None, time.Time{}},
		{Theirs, before, true, Theirs, before},
		{Theirs, before, false, Theirs, before}, // a person removed it
		{Theirs, first, false, None, time.Time{}},
		{Added, before, true, Added, first},
		{Added, before, false, Added, before}, // a person removed it
		{Added, first, false, None, time.Time{}},
		{Added, first.Add(time.Second), true, Theirs, first}, // it was there before
		{Adding, time.Time{}, true, Added, first},
		{Adding, time.Time{}, false, None, time.Time{}},
		{Withdrawing, before, true, Added, first},
		{Withdrawing, before, false, None, time.Time{}},
		{Removed, before, true, Theirs, first},
		{Removed, before, false, Removed, before},
		{Declined, before, true, Theirs, first},
		{Declined, before, false, Declined, before},
	} {
		event := meeting(guests(ana)...)
		event.Updated = first
		if row.present {
			event.Guests = append(event.Guests, guests(ana2)...)
		}
		inherited := map[string]Entry{}
		if row.series != None {
			inherited[ana2] = Entry{State: row.series, Primary: ana, At: row.at}
		}
		d := Decide(event, nil, inherited, people.Secondaries)
		if got, kept := d.Inherited[ana2]; got.State != row.want || !got.At.Equal(row.since) || kept != (row.want != None) {
			t.Errorf("%+v: %+v", row, got)
		}
		if own := Decide(
			event, map[string]Entry{ana2: entry(Theirs)}, inherited, people.Secondaries,
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
		d := Decide(event, nil, map[string]Entry{ana2: entry(Theirs)}, people.Secondaries)
		if got := outcomeOf(d, ana2); got != want {
			t.Errorf("since %v: %s", since, got)
		}
	}
}

// What an exception showed when its guests were first read, and shows no more, a person removed:
// also in the moment in which it was first read.
func TestDecide_FoundAtAnException_AndGone_WasRemoved(t *testing.T) {
	t.Parallel()
	for _, state := range []State{Theirs, Added} {
		for updated, want := range map[time.Time]string{
			before.Add(-time.Second): "add, adding", before: "removed", before.Add(time.Second): "removed",
		} {
			event := meeting(guests(ana)...)
			event.Since, event.Updated = before, updated
			d := Decide(event, nil, map[string]Entry{ana2: entry(state)}, people.Secondaries)
			if got := outcomeOf(d, ana2); got != want {
				t.Errorf("%s, as it was at %v: %s, want %s", state, updated, got, want)
			}
		}
	}
}
