package worldtest

import (
	"fmt"
	"slices"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// droppedProblems: what is recorded as told was told, unless it is no news to those
// who know what was told before (invariant 4).
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
	underWay := last.Delivering.Ref != "" // told to its end since
	if before.Ref == "" || before.Ref == after.Ref || renumbered || underWay || inApp != last.Channels[inAppChannel].Ref {
		return nil
	}
	adopted := func(entry poll.Entry) bool { return entry.ID == after.Ref && entry.Decision == rules.Adopt } // people know it
	if missing := rules.Announce(before.State, after.State); missing != rules.NoticeNone && !slices.ContainsFunc(w.Journal(id), adopted) {
		problems = append(problems, fmt.Sprintf("poll %s: %s is recorded as told, and was not", id, missing))
	}
	return problems
}
