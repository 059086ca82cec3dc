package worldtest

import (
	"fmt"
	"slices"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// droppedProblems: a state that is recorded as announced was delivered, unless it
// changes nothing for people who know the announcement before it (invariant 4).
func (w *World) droppedProblems(document store.Document) (problems []string) {
	id := document.Path.ID()
	last, now := w.past.announced[id], poll.DecodeAnnouncement(document)
	w.past.announced[id] = now
	if !document.Exists() {
		delete(w.past.announced, id)
		return nil
	}
	before, after := last.Announced, now.Announced
	inApp := now.Channels[inAppChannel].Ref
	renumbered := before.State.Generation != after.State.Generation
	underWay := last.Delivering.Ref != "" // its delivery has ended since
	if before.Ref == "" || before.Ref == after.Ref || renumbered || underWay || inApp != last.Channels[inAppChannel].Ref {
		return nil
	}
	adopted := func(entry poll.JournalEntry) bool { return entry.ID == after.Ref && entry.Decision == rules.Adopt } // people know it
	if missing := rules.Announce(before.State, after.State); missing != rules.NoticeNone && !slices.ContainsFunc(w.Journal(id), adopted) {
		problems = append(problems, fmt.Sprintf("poll %s: %s is recorded as announced, and was not delivered", id, missing))
	}
	return problems
}
