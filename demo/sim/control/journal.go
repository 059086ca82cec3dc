package control

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
)

// Journal is an append-only file of records, one JSON line each: a simulator
// writes each change there before it answers, and is rebuilt from it at its
// next start. It outlives the process, killed at any point; it is not synced,
// so a crash of the machine can lose its end. Not safe for concurrent use.
type Journal struct {
	path  string
	file  *os.File
	size  int64 // of the whole records; nothing stands behind it between calls
	lines int
}

// OpenJournal opens or makes the file, its folder too, and gives every whole
// record to apply, in order. A last line without its end was being written
// when the process was killed, so it was never answered: it is cut off. A line
// that cannot be read or applied is an error.
func OpenJournal(path string, apply func(line []byte) error) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{path: path, file: file}
	if err := j.replay(apply); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return j, nil
}

func (j *Journal) replay(apply func(line []byte) error) error {
	lines := bufio.NewReaderSize(j.file, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return j.file.Truncate(j.size)
		case err != nil:
			return err
		}
		if err := apply(line); err != nil {
			return fmt.Errorf("line %d is damaged (%w): give another folder, or remove the line", j.lines+1, err)
		}
		j.size += int64(len(line))
		j.lines++
	}
}

// Lines is how many records the file holds.
func (j *Journal) Lines() int { return j.lines }

// Append writes one record. On an error nothing of it is left, so that the
// next one does not stand behind half a line. Raw JSON inside a record stays
// as it is, but for blanks between its parts.
func (j *Journal) Append(record any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line) // ends the line, too
	enc.SetEscapeHTML(false)
	if err := enc.Encode(record); err != nil {
		return err
	}
	if _, err := j.file.Write(line.Bytes()); err != nil {
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(line.Len())
	j.lines++
	return nil
}

// Rewrite puts other records in the place of all that are there, whole or not
// at all: they go to a file beside it that then takes its name.
func (j *Journal) Rewrite(records iter.Seq[any]) error {
	beside := j.path + ".new"
	if err := os.Remove(beside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	next, err := OpenJournal(beside, func([]byte) error { return nil })
	if err != nil {
		return err
	}
	for record := range records {
		if err := next.Append(record); err != nil {
			return errors.Join(err, next.Close())
		}
	}
	if err := os.Rename(beside, j.path); err != nil {
		return errors.Join(err, next.Close())
	}
	old := j.file
	j.file, j.size, j.lines = next.file, next.size, next.lines
	return old.Close()
}

// Close gives back the file. Appending fails afterwards.
func (j *Journal) Close() error { return j.file.Close() }
