package discord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// journal is an append-only file of records, one JSON line each, written
// before the change is answered. It outlives the process, killed at any point;
// it is not synced, so a crash of the machine can lose its end.
type journal struct {
	file *os.File
	size int64 // of the whole records; nothing stands behind it between calls
}

const journalName = "discord.jsonl"

// restore opens the journal in dir, making both where they are not there, and
// rebuilds the world from it.
func (s *Server) restore(dir string, ownClock bool) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	j, err := openJournal(filepath.Join(dir, journalName), s.world.apply)
	if err != nil {
		return err
	}
	s.journal = j
	if !ownClock {
		return nil
	}
	if err := s.clock.Advance(s.world.offset); err != nil {
		return errors.Join(err, j.close())
	}
	s.clock.OnAdvance(func(offset time.Duration) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.commit(record{Offset: &offset})
	})
	return nil
}

// openJournal gives every whole record to apply, in order. A last line without
// its end was being written when the process was killed, so it was never
// answered: it is cut off.
func openJournal(path string, apply func(record) error) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file}
	if err := j.replay(apply); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return j, nil
}

func (j *journal) replay(apply func(record) error) error {
	all, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	for line := 1; ; line++ {
		text, rest, whole := bytes.Cut(all, []byte("\n"))
		if !whole {
			return j.file.Truncate(j.size)
		}
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return damaged(line, err)
		}
		if err := apply(r); err != nil {
			return damaged(line, err)
		}
		j.size += int64(len(text)) + 1
		all = rest
	}
}

func damaged(line int, err error) error {
	return fmt.Errorf("line %d is damaged (%w): give another folder, or remove the line", line, err)
}

// append writes one record. On an error nothing of it is left, so that the
// next one does not stand behind half a line.
func (j *journal) append(r record) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line) // ends the line, too
	enc.SetEscapeHTML(false)      // embeds stay as they were sent
	if err := enc.Encode(r); err != nil {
		return err
	}
	if _, err := j.file.Write(line.Bytes()); err != nil {
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(line.Len())
	return nil
}

func (j *journal) close() error { return j.file.Close() }
