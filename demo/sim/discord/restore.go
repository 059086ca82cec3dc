package discord

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"questscheduler/demo/sim/control"
)

// journalName is the one file in Options.Dir.
const journalName = "discord.jsonl"

// restore rebuilds the world from the journal in dir, creating it if it is not
// there. A simulator with its own clock continues at the time of the journal.
func (s *Server) restore(dir string, ownClock bool) error {
	j, err := control.OpenJournal(filepath.Join(dir, journalName), func(line []byte) error {
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
