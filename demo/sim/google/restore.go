package google

import (
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"questscheduler/demo/sim/control"
)

// journalName is the one file in Options.Dir.
const journalName = "google.jsonl"

// worthRewriting is how many lines a journal has at the least before its start
// makes it shorter.
const worthRewriting = 5000

// restore rebuilds the world from the journal in Options.Dir, making it where
// it is not there. With a clock of its own the simulator goes on at the time
// that was reached.
func (s *Server) restore(ownClock bool) error {
	j, err := control.OpenJournal(filepath.Join(s.opt.Dir, journalName), func(line []byte) error {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		return s.world.apply(r)
	})
	if err != nil {
		return err
	}
	s.journal = j
	if j.Lines() > worthRewriting {
		if err := j.Rewrite(s.world.records(s.clock.Now())); err != nil {
			return errors.Join(err, j.Close())
		}
	}
	if !ownClock {
		return nil
	}
	err = s.clock.Resume(s.world.offset, func(offset time.Duration) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.commit(record{Offset: &offset})
	})
	if err != nil {
		return errors.Join(err, j.Close())
	}
	return nil
}

// records are the world in few lines: applied in order they make it anew.
// Access tokens and codes that have ended are left out.
func (w *world) records(now time.Time) iter.Seq[any] {
	return func(yield func(any) bool) {
		if !yield(w.people(now)) {
			return
		}
		for _, cal := range w.calendarsInOrder() {
			cal.dropStale()
			for part := range slices.Chunk(cal.log, 500) {
				r := record{}
				for _, entry := range part {
					r.Events = append(r.Events, cal.events[entry.id])
				}
				if !yield(r) {
					return
				}
			}
		}
		yield(w.watching())
	}
}

// people is the first of the records: who there is, what they have granted, their
// calendars, and the spreadsheets.
func (w *world) people(now time.Time) record {
	first := record{Offset: &w.offset, Epoch: &w.epoch, Reason: w.epochReason}
	for _, key := range sortedKeys(w.users) {
		first.Users = append(first.Users, w.users[key])
	}
	// The grant last given must come last: it becomes the newest.
	for _, refresh := range sortedKeys(w.grants) {
		if g := w.grants[refresh]; w.newest[g.User] != refresh {
			first.Grants = append(first.Grants, g)
		}
	}
	for _, key := range sortedKeys(w.newest) {
		first.Grants = append(first.Grants, w.grants[w.newest[key]])
	}
	for _, token := range sortedKeys(w.tokens) {
		if t := w.tokens[token]; t.liveAt(now) {
			first.Tokens = append(first.Tokens, t)
		}
	}
	for _, text := range sortedKeys(w.codes) {
		if code := w.codes[text]; code.liveAt(now) {
			first.Codes = append(first.Codes, code)
		}
	}
	for _, email := range sortedKeys(w.services) {
		first.Services = append(first.Services, w.services[email])
	}
	for _, cal := range w.calendarsInOrder() {
		first.Calendars = append(first.Calendars, cal.calendarInfo)
	}
	for _, id := range sortedKeys(w.sheets) {
		first.Sheets = append(first.Sheets, w.sheets[id])
	}
	return first
}

// watching is the last of the records: channels, and pushes on their way.
func (w *world) watching() record {
	last := record{}
	for _, cal := range w.calendarsInOrder() {
		for _, id := range cal.watchers {
			last.Channels = append(last.Channels, w.channels[id])
		}
	}
	for _, id := range sortedKeys(w.pushes) {
		last.Pushes = append(last.Pushes, w.pushes[id])
	}
	return last
}

func (w *world) calendarsInOrder() []*calendar {
	return slices.SortedFunc(maps.Values(w.calendars), func(a, b *calendar) int { return a.Order - b.Order })
}

// sortedKeys makes walking a map the same at every run.
func sortedKeys[K int64 | string, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
