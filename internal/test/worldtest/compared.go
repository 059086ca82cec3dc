package worldtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"questscheduler/internal/mirror"
)

// comparison is what one account should show by mirrors, and what it shows.
type comparison struct {
	world   *World
	name    string
	strict  bool
	origins map[string][]origin     // by the account's name
	events  map[string]mirror.Event // canonical, by id
	// left are meetings that are left alone here, by iCalUID.
	left map[string]bool
	// named are the mirrors, by the ids of their events.
	named map[string]mirror.Mirror
	// native is what the account shows itself.
	native       []origin
	own, overlay target
	// lost would be in an overlay calendar that was deleted.
	lost target
}

// target is what one account should show in one of its calendars, and shows.
type target struct {
	wanted map[string]wish // by origin.copies
	shown  []Occurrence
}

// wish is a mirror that a calendar should have, of any one of the copies of an occurrence.
type wish struct {
	calendar, meeting string
	texts             []string
	// changed says that one of the copies is apart from its series. Then whatever else the account
	// shows of the meeting may do for it.
	changed bool
}

// copied is the event of a mirror, with what it is a copy of.
type copied struct {
	Occurrence
	of origin
}

// read takes in the account's mirrors, and what its calendars should show and do show.
func (c *comparison) read(documents []mirror.Mirror) {
	c.left, c.named = map[string]bool{}, map[string]mirror.Mirror{}
	for _, m := range documents {
		if m.State == mirror.Suppressed || m.State == mirror.Contested {
			c.left[m.ICalUID] = true
		}
		if m.EventID != "" {
			c.named[m.EventID] = m
		}
	}
	for _, o := range c.origins[c.name] {
		c.own.shown = append(c.own.shown, o.Occurrence)
		if !o.IsMirror() && !o.declined() {
			c.native = append(c.native, o)
		}
	}
	c.own.wanted, c.overlay.wanted, c.lost.wanted = map[string]wish{}, map[string]wish{}, map[string]wish{}
	account := c.world.linked[c.name]
	for _, edge := range c.world.Edges() {
		if edge.ToAccountID != account {
			continue
		}
		into := c.own.wanted
		if edge.Target == mirror.Overlay {
			into = c.overlay.wanted
			if c.world.MirrorPerson().Overlays[account].Suppressed {
				into = c.lost.wanted
			}
		}
		c.want(into, c.origins[c.world.calendarOf(edge)], edge.Detail)
	}
	if id := c.world.Overlay(c.name); id != "" {
		all, exists := c.world.Occurrences(c.name, id)
		c.overlay.shown = all
		if !exists && !c.strict { // the daily reconciliation may be the first to hear of it
			maps.Copy(c.lost.wanted, c.overlay.wanted)
			clear(c.overlay.wanted)
		}
	}
}

// want adds what a calendar should have of the events of another one.
func (c *comparison) want(into map[string]wish, origins []origin, detail mirror.Detail) {
	for _, o := range origins {
		shown, is := o.projected(detail)
		if o.IsMirror() || !is || c.left[o.ICalUID] {
			continue
		}
		wanted := into[o.copies()]
		wanted.meeting, wanted.changed = o.meeting, wanted.changed || o.changed
		if !slices.ContainsFunc(c.native, func(native origin) bool { return native.hides(o) }) {
			wanted.texts = append(wanted.texts, shown.text())
		}
		into[o.copies()] = wanted
	}
}

// disagreements compares what the account should show by mirrors with what it shows.
func (c *comparison) disagreements() (problems []string) {
	shown := map[string][]copied{} // by meeting
	had := map[string]bool{}       // by origin.copies
	var lacking []wish
	for i, in := range []target{c.own, c.overlay} {
		calendar := [...]string{"the calendar", "the overlay calendar"}[i] + " of " + c.name
		free, found := c.free(calendar, in.shown)
		problems = append(problems, found...)
		for _, copies := range slices.Sorted(maps.Keys(in.wanted)) {
			wanted := in.wanted[copies]
			wanted.calendar = calendar
			at := slices.IndexFunc(wanted.texts, func(text string) bool { return len(free[copies+" "+text]) > 0 })
			isElsewhere := i == 0 && (c.overlay.wants(copies) || !c.strict && c.lost.wants(copies))
			switch {
			case had[copies] || at < 0 && isElsewhere: // the other edge has it
			case at < 0:
				lacking = append(lacking, wanted)
			default:
				one := copies + " " + wanted.texts[at]
				shown[wanted.meeting] = append(shown[wanted.meeting], free[one][0])
				had[copies], free[one] = true, free[one][1:]
			}
		}
		for _, text := range slices.Sorted(maps.Keys(free)) {
			for _, o := range free[text] {
				problems = append(problems, fmt.Sprintf("%s has a mirror too many: %s %s", calendar, o.ID, text))
			}
		}
	}
	return slices.Concat(problems, c.lacking(lacking, shown), c.twice(shown))
}

// lacking says which mirrors the account lacks of those that it does not have.
func (c *comparison) lacking(missing []wish, shown map[string][]copied) (problems []string) {
	for _, wanted := range missing {
		isNative := slices.ContainsFunc(c.native, func(native origin) bool { return native.meeting == wanted.meeting })
		if len(wanted.texts) > 0 && !(wanted.changed && (isNative || len(shown[wanted.meeting]) > 0)) {
			problems = append(problems,
				fmt.Sprintf("%s lacks a mirror of meeting %s: %s", wanted.calendar, wanted.meeting, strings.Join(wanted.texts, " or ")))
		}
	}
	return problems
}

// twice says which meetings the account shows by several mirrors. Only the occurrences by the rule
// of series that differ may meet.
func (c *comparison) twice(shown map[string][]copied) (problems []string) {
	for _, meeting := range slices.Sorted(maps.Keys(shown)) {
		for i, one := range shown[meeting] {
			for _, other := range shown[meeting][:i] {
				if one.of.hides(other.of) || other.of.hides(one.of) {
					problems = append(problems, fmt.Sprintf("%s shows a meeting twice, by %s and %s: %s", c.name, other.ID, one.ID, meeting))
				}
			}
		}
	}
	return problems
}

// free lists the mirrors that a calendar shows, by what they are a copy of and their text: two
// meetings may show the same.
func (c *comparison) free(calendar string, shown []Occurrence) (free map[string][]copied, problems []string) {
	free = map[string][]copied{}
	for _, o := range shown {
		m, known := c.named[o.ID]
		if !known {
			m, known = c.named[o.Master()]
		}
		switch {
		case !o.IsMirror() || c.left[m.ICalUID]:
			continue
		case !known && !c.strict:
			continue
		case !known:
			problems = append(problems, fmt.Sprintf("%s has a mirror that no document names: %s %s", calendar, o.ID, o.text()))
			continue
		}
		problems = append(problems, revealed(calendar, o)...)
		of := "nothing"
		origin, exists := originOf(o, c.events[m.CanonicalID], c.origins)
		if exists {
			of = origin.copies()
		}
		free[of+" "+o.text()] = append(free[of+" "+o.text()], copied{o, origin})
	}
	return free, problems
}

// wants reports whether a calendar should have a mirror of one of some copies.
func (t target) wants(copies string) bool { return len(t.wanted[copies].texts) > 0 }
