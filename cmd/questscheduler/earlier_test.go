package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// earlierPolls are the finalised polls in testdata/earlier.db.gz, the data file of a
// program whose transitions still wrote lists of fields: one that the calendar moved,
// and one without an event.
var earlierPolls = []string{"c55840a7-4b62-4ea1-9391-e530f44b8e90", "d4b34059-8c2d-4207-a694-405e11497a9b"}

func TestDataFile_OfAnEarlierProgram_IsReadOn(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	environ := settings(dir)
	unpack(t, filepath.Join("testdata", "earlier.db.gz"), filepath.Join(dir, "questscheduler.db"))
	run(t, environ, "explain", earlierPolls[0]).want(t, exitFailed, "start its server once, which brings the file up to date")
	run(t, environ, "sweep", "drain").want(t, exitOK, "HANDED OVER") // which opens it as the server does
	run(t, environ, "doctor").want(t, exitOK, "questscheduler.db is sound; schema version 8")
	for _, id := range earlierPolls {
		run(t, environ, "explain", id, "--replay").want(t, exitOK, "agrees: the journal gives back the stored poll")
	}
	run(t, environ, "explain", earlierPolls[0]).want(t, exitOK, "RESCHEDULED")
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
