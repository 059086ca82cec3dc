package audit

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// entry is a session of a feed: the values of its properties by their names, without
// parameters and escapes.
type entry map[string]string

// parse reads the events of an iCalendar object, by UID.
func parse(text string) map[string]entry {
	entries := map[string]entry{}
	var at entry
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n ", ""), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		name, _, _ = strings.Cut(name, ";")
		switch {
		case line == "BEGIN:VEVENT":
			at = entry{}
		case line == "END:VEVENT":
			entries[at["UID"]], at = at, nil
		case at != nil:
			at[name] = strings.NewReplacer(`\\`, `\`, `\,`, ",", `\;`, ";", `\n`, "\n").Replace(value)
		}
	}
	return entries
}

// feedTime is a time of a slot as a feed writes it.
func feedTime(slot record, name string) string {
	if wholeDays(slot) {
		return strings.ReplaceAll(slot.text(name+"Date"), "-", "")
	}
	return slot.when(name).Format("20060102T150405Z")
}

// later is how much later each feed is read again: what takes place stays in a feed, however
// long nothing changes.
const later = 50 * 24 * time.Hour

// checkFeeds compares people's feeds with the polls.
func (a *audit) checkFeeds() error {
	for _, person := range a.People {
		for _, after := range []time.Duration{0, later} {
			text, err := a.Feed(person, after)
			if err != nil {
				return err
			}
			a.checkFeed(person, parse(text), after)
		}
	}
	return nil
}

func (a *audit) checkFeed(person string, feed map[string]entry, after time.Duration) {
	for _, uid := range slices.Sorted(maps.Keys(feed)) {
		id, _, _ := strings.Cut(uid, "@")
		p, there := a.polls[id]
		if !there || !slices.Contains(p.texts("participantIds"), person) {
			a.found("the feed of %s has %s, a session that does not name them", person, uid)
			continue
		}
		a.checkEntry(person, p, feed[uid])
	}
	for _, id := range slices.Sorted(maps.Keys(a.polls)) {
		p := a.polls[id]
		shown := p.text("status") == finalized && a.slots[id+"/"+p.text("winningSlotId")].fields != nil
		status := feed[id+"@questscheduler.app"]["STATUS"]
		if shown && a.takesPart(p, person) && status != "CONFIRMED" {
			a.found("the feed of %s shows poll %s as %q, %v after its last change; they take part in it", person, id, status, after)
		}
	}
}

// takesPart reports whether a person takes part in a poll by choice: they made it, joined or
// voted.
func (a *audit) takesPart(p record, person string) bool {
	named := slices.Contains(p.texts("participantIds"), person)
	return named && (p.text("creatorId") == person || slices.Contains(p.texts("joinedIds"), person))
}

func (a *audit) checkEntry(person string, p record, e entry) {
	slot := a.slots[p.id+"/"+p.text("winningSlotId")]
	want := map[string]string{"SUMMARY": p.text("title"), "DTSTART": feedTime(slot, "start"), "DTEND": feedTime(slot, "end")}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if e[name] != want[name] {
			a.found("the feed of %s shows poll %s with the %s %q; the poll has %q", person, p.id, name, e[name], want[name])
		}
	}
	status := p.text("status")
	if ok := status == cancelled && e["STATUS"] == cancelled ||
		status == finalized && (e["STATUS"] == "CONFIRMED" || e["STATUS"] == "TENTATIVE"); !ok && status != "ARCHIVED" {
		a.found("the feed of %s shows poll %s as %s, which is %s", person, p.id, e["STATUS"], status)
	}
	if proof := a.takesPart(p, person) || a.votes[p.id+"/"+person] ||
		a.groups[p.text("questingGroupId")].fields != nil; !proof && e["STATUS"] == "CONFIRMED" {
		a.found("the feed of %s confirms poll %s, which only names them", person, p.id)
	}
}
