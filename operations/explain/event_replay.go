package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// EventVerdict says whether the journal of a canonical event gives back what is stored.
type EventVerdict struct {
	// Agrees reports whether every entry follows, and that they lead to what is stored.
	Agrees bool `json:"agrees"`
	// Entries counts those that were replayed.
	Entries int `json:"entries"`
	// Partial reports whether the journal begins in the middle: older entries were removed.
	// The first entry of a mirror is then taken as it stands.
	Partial     bool         `json:"partial"`
	Differences []Difference `json:"differences"`
	Breaks      []Break      `json:"breaks"`
}

// JudgeEvent replays the journal of a canonical event and compares it with what is stored.
// Each write, failure, deletion and change by a person is decided again by mirrors/plan on
// the mirror as the entry before left it. What was planned is taken from its entry, since
// it follows from all of the person's events and policies of that time.
func JudgeEvent(h EventHistory) EventVerdict {
	v := EventVerdict{Entries: len(h.Entries), Differences: []Difference{}, Breaks: []Break{}}
	replayed, version := map[string]*mirrorReplay{}, ""
	for i, entry := range h.Entries {
		if entry.MirrorID == "" {
			known := slices.ContainsFunc(h.Entries[:i], func(e mirror.Entry) bool { return e.MirrorID == "" })
			switch {
			case known && entry.Before != version:
				v.broken(entry, fmt.Sprintf("it begins at version %s, and the one before ended at %s", cmp.Or(entry.Before, "none"), cmp.Or(version, "none")))
			case !known && entry.Before != "":
				v.Partial = true
			}
			version = entry.After
			continue
		}
		r := replayed[entry.MirrorID]
		if r == nil {
			r = &mirrorReplay{}
			replayed[entry.MirrorID] = r
			if entry.Before != "" {
				v.Partial = true
				r.take(entry)
				continue
			}
		}
		if problem := r.step(entry); problem != "" {
			v.broken(entry, problem)
		}
		r.take(entry)
	}
	v.compare(h, replayed, version)
	v.Agrees = len(v.Differences) == 0 && len(v.Breaks) == 0
	return v
}

func (v *EventVerdict) broken(entry mirror.Entry, what string) {
	v.Breaks = append(v.Breaks, Break{Entry: entry.ID, At: entry.At, What: what})
}

// compare compares the ends of the journal with what is stored.
func (v *EventVerdict) compare(h EventHistory, replayed map[string]*mirrorReplay, version string) {
	differ := func(field, journal, stored string) {
		if journal != stored {
			v.Differences = append(v.Differences, Difference{field, journal, stored})
		}
	}
	switch {
	case h.Event.ID == "": // it is removed without an entry, once nothing needs it
	case version == "":
		v.Partial = true
	default:
		differ("event version", version, strconv.FormatInt(h.Event.Version, 10))
	}
	stored := map[string]bool{}
	for _, m := range h.Mirrors {
		stored[m.ID] = true
		r := replayed[m.ID]
		if r == nil {
			v.Partial = true
			continue
		}
		journal, is := fieldsOf(r.m), fieldsOf(m)
		for i := range is {
			differ(m.ID+" "+is[i].name, journal[i].value, is[i].value)
		}
	}
	for _, entry := range h.Entries { // in an order that does not change
		if r := replayed[entry.MirrorID]; r != nil && !stored[entry.MirrorID] {
			stored[entry.MirrorID] = true
			differ(entry.MirrorID+" state", string(r.m.State), "")
		}
	}
}

type mirrorField struct{ name, value string }

func fieldsOf(m mirror.Mirror) []mirrorField {
	return []mirrorField{
		{"state", string(m.State)}, {"generation", strconv.FormatInt(m.Generation, 10)}, {"wanted", m.Wanted}, {"written", m.Written},
		{"attempts", strconv.FormatInt(m.Attempts, 10)},
	}
}

// mirrorReplay is a mirror between two entries, as far as its journal holds it.
type mirrorReplay struct {
	m mirror.Mirror
	// decided is the mirror as the last entry was decided again: with the times of reverts.
	decided mirror.Mirror
}

// take makes the mirror what an entry says.
func (r *mirrorReplay) take(entry mirror.Entry) {
	r.m = mirror.Mirror{
		ID: entry.MirrorID, State: mirror.State(entry.After), Generation: entry.Generation, Wanted: entry.Wanted, Written: entry.Written,
		Attempts: entry.Attempts, Reverts: r.decided.Reverts, DeletedAt: r.decided.DeletedAt, FailedSince: r.decided.FailedSince,
	}
	r.decided = r.m
}

// step decides an entry again. It gives why the entry does not follow, or "".
func (r *mirrorReplay) step(entry mirror.Entry) string {
	if string(r.m.State) != entry.Before {
		return fmt.Sprintf("it begins at %s, and the one before ended at %s", cmp.Or(entry.Before, "no mirror"), cmp.Or(string(r.m.State), "no mirror"))
	}
	was := r.m
	switch entry.Step {
	case mirror.StepPlanned, mirror.StepWouldPlan, mirror.StepStray:
		if is := mirror.State(entry.After); is != was.State && (is == mirror.Active || is == mirror.Failed) {
			return fmt.Sprintf("planning makes no mirror %s that was %s", is, cmp.Or(string(was.State), "none"))
		}
		r.decided = was
		return ""
	case mirror.StepDeleted, mirror.StepForgotten:
		if entry.After == "" {
			r.decided = mirror.Mirror{}
			return ""
		}
		was.Wanted = entry.Wanted
		next, keep := plan.Deleted(was, entry.At)
		if !keep {
			return "its document stays; decided again, it is removed"
		}
		r.decided = next
	case mirror.StepWritten:
		if entry.Reason == string(plan.Early) {
			was.Answered = "changed"
		}
		r.decided = plan.Written(was, entry.Written, gcal.Event{ID: "event", EventState: rules.Gone}, entry.At)
	case mirror.StepFailed:
		r.decided = was
		if kind, ok := kindNamed(entry.Reason); ok {
			r.decided = plan.FailedWrite(was, fault.New(kind, entry.Reason), entry.At)
		}
	case mirror.StepDrift, mirror.StepRemoved:
		if problem := r.person(was, entry); problem != "" {
			return problem
		}
	default:
		r.decided = was
	}
	return r.differs(entry)
}

// person decides again about what a person did to the mirror's event: an observation that
// is neither what we wrote nor what was observed before.
func (r *mirrorReplay) person(was mirror.Mirror, entry mirror.Entry) string {
	const event = "event"
	was.EventID, was.ETag, was.Answered = event, "before", "before"
	shown := gcal.Event{ID: event, ETag: "after", EventState: rules.Present, Details: &gcal.Details{}}
	if entry.Step == mirror.StepRemoved {
		shown.EventState = rules.Gone
		if entry.Generation == was.Generation { // an occurrence is confirmed again under its id
			was.SeriesMirrorID = "series"
		}
	}
	var verdict plan.Verdict
	if mirror.State(entry.After) == mirror.Deleting { // one occurrence of a series
		was.CanonicalID = entry.EventID
		shown.ID, shown.InstanceOf = event+"_1", event
		shown.Details.Original.Date = "2000-01-01"
		shown.Details.Summary = "changed"
		r.decided, verdict = plan.ObservedInstance(plan.Situation{Now: entry.At, Events: []mirror.Event{{ID: entry.EventID}}}, was, shown)
	} else {
		r.decided, verdict = plan.Observed(was, shown, entry.At)
	}
	if string(verdict) != entry.Reason {
		return fmt.Sprintf("it says %q; decided again, it is %q", entry.Reason, verdict)
	}
	return ""
}

// differs says in what the mirror as it was decided again is not what the entry says.
func (r *mirrorReplay) differs(entry mirror.Entry) string {
	is := mirror.Mirror{State: mirror.State(entry.After), Generation: entry.Generation, Wanted: entry.Wanted, Written: entry.Written, Attempts: entry.Attempts}
	journal, decided := fieldsOf(is), fieldsOf(r.decided)
	for i := range journal {
		if journal[i].value != decided[i].value {
			return fmt.Sprintf("it leaves %s %s; decided again, it is %s", journal[i].name, cmp.Or(journal[i].value, "empty"), cmp.Or(decided[i].value, "empty"))
		}
	}
	return ""
}

// kindNamed is the kind of error that a reason names.
func kindNamed(name string) (fault.Kind, bool) {
	for _, kind := range fault.Kinds() {
		if kind.String() == name {
			return kind, true
		}
	}
	return 0, false
}
