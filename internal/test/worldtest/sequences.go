package worldtest

import (
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// sequence is the SEQUENCE of a poll's session in feeds, as of a commit.
type sequence struct {
	number, made, written int64
}

// judgeSequence judges the sequence of a poll that has a new journal entry: calendar programs
// ignore another version of an event whose SEQUENCE is not greater (invariant 27). Two entries of
// one transaction are one version.
func (w *World) judgeSequence(line string, doc store.Document) {
	if !doc.Exists() {
		return
	}
	now := sequence{poll.Decode(doc).Sequence(w.Clock.Now()), doc.Made, doc.Written}
	before, known := w.commits.sequences[doc.Path.ID()]
	w.commits.sequences[doc.Path.ID()] = now
	if known && before.made == now.made && before.written != now.written && now.number <= before.number {
		w.wrong("%s has the sequence %d, and the one before had %d (invariant 27)", line, now.number, before.number)
	}
}
