package main

import (
	"maps"
	"math/rand/v2"
	"slices"

	"questscheduler/internal/mirror"
	"questscheduler/internal/test/worldtest"
)

// secondTool is another program that copies the events of two of the person's calendars into each
// other, the program's mirrors too, if the world has one. It has streams of its own, so that worlds
// without it are what they would be anyhow.
type secondTool struct {
	pair  []string
	draws *rand.Rand
	// made are its events, copies its copy of each event that it copied, by id.
	made   map[string]bool
	copies map[string]toolsCopy
}

// toolsCopy is the copy of an event of one calendar in another.
type toolsCopy struct{ from, to, id string }

const (
	// toolShare is how many worlds with mirroring there are to one with a second tool.
	toolShare = 3
	// mostTurns is how often a second tool may find something new while nobody else does anything:
	// three copies of a mirror are made for each event, and once more where a full listing began anew.
	// Where each copy of a chain with marks goes as the next one comes, the twentieth ends it.
	mostTurns = 24
	// streamTool tells its streams from those of the world.
	streamTool = 0x2f00
)

func (l *life) drawSecondTool(of int) {
	l.secondTool.draws = rand.New(rand.NewPCG(l.seed^streamTool, uint64(of)))
}

// beginSecondTool draws whether there is one, and between which calendars.
func (l *life) beginSecondTool() {
	s := &l.secondTool
	if len(l.mirrored.names) < 2 || s.draws.IntN(toolShare) > 0 {
		return
	}
	s.made, s.copies = map[string]bool{}, map[string]toolsCopy{}
	for _, i := range s.draws.Perm(len(l.mirrored.names))[:2] {
		s.pair = append(s.pair, l.mirrored.names[i])
	}
	l.say("another program copies the events of %v into each other", s.pair)
}

// mayCopyBack draws whether the tool runs before a step.
func (l *life) mayCopyBack() {
	if l.secondTool.pair != nil && l.secondTool.draws.IntN(3) == 0 {
		l.copyBack()
	}
}

// copyBack has the tool delete the copies of what is gone, and copy what it did not copy yet. It
// returns whether there was anything. Series it leaves alone.
func (l *life) copyBack() (found bool) {
	s := &l.secondTool
	for _, of := range slices.Sorted(maps.Keys(s.copies)) {
		c := s.copies[of]
		if l.w.EventOf(c.from, of).Live() {
			continue
		}
		delete(s.copies, of)
		if l.w.EventOf(c.to, c.id).Live() {
			l.say("another program: deletes %s in %s", c.id, c.to)
			l.w.DeleteEvent(c.to, c.id)
			found = true
		}
	}
	for i, from := range s.pair {
		to := s.pair[1-i]
		for _, o := range l.w.OccurrencesOf(from) {
			if _, copied := s.copies[o.ID]; copied || s.made[o.ID] || o.SeriesID != "" || !o.Organizer.Self {
				continue
			}
			made := l.w.InsertEvent(to, map[string]any{"summary": o.Summary, "start": timeOf(o, false), "end": timeOf(o, true)})
			l.say("another program: copies %s of %s to %s, as %s", o.ID, from, to, made.ID)
			s.made[made.ID], s.copies[o.ID] = true, toolsCopy{from, to, made.ID}
			found = true
		}
	}
	return found
}

// timeOf is the start or the end of an occurrence, for another event.
func timeOf(o worldtest.Occurrence, end bool) map[string]any {
	at := o.Start
	if end {
		at = o.End
	}
	if at.Date != "" {
		return map[string]any{"date": at.Date}
	}
	return map[string]any{"dateTime": at.DateTime, "timeZone": at.TimeZone}
}

// restSecondTool lets the tool and the program take turns until neither finds anything, which must
// not take long.
func (l *life) restSecondTool() {
	if l.secondTool.pair == nil {
		return
	}
	for range mostTurns {
		if !l.copyBack() {
			return
		}
		l.w.Sweep() // pushes may be lost
		l.w.Run(l.patience())
		l.restMirrors()
	}
	l.Errorf("another program and this one copy each other's copies without end")
}

// stoppedCopies are the events, by id, that are not mirrored because they count as copies that
// another program makes of copies. Only events of the tool may be such.
func (l *life) stoppedCopies() map[string]bool {
	stopped := map[string]bool{}
	for _, m := range l.w.MirrorDocuments() {
		if !m.IsLooping() {
			continue
		}
		event, err := mirror.LoadEvent(l.w.Context(), l.w.Documents, m.CanonicalID)
		l.must(err)
		if !stopped[event.EventID] && !l.secondTool.made[event.EventID] && !l.secondTool.made[event.SeriesID] {
			l.Errorf("a person's event %s counts as a copy that another program makes of copies", event.EventID)
		}
		stopped[event.EventID] = true
	}
	return stopped
}
