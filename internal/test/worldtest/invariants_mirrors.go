package worldtest

import (
	"fmt"
	"maps"
	"slices"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

// MirrorProblems are what must hold of mirroring at any time: no mirror is an origin, and
// nobody's documents hold what is in another person's calendar.
func (w *World) MirrorProblems() (problems []string) {
	w.t.Helper()
	if !w.Mirroring() {
		return nil
	}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	owners := map[string]string{} // by account
	owner := func(accountID string) string {
		if _, known := owners[accountID]; !known {
			owners[accountID] = store.Fields(w.observed.document(accounts.Path(accountID)).Data).String("ownerId")
		}
		return owners[accountID]
	}
	for _, event := range w.CanonicalEvents() {
		if isCopy(*event) {
			if event.OwnerID != mirror.CopyOwner(owner(event.AccountID)) || event.Title+event.Description+event.Location != "" {
				wrong("%s has copy %s of an account of %q, with the text %q", event.OwnerID, event.ID, owner(event.AccountID),
					event.Title+event.Description+event.Location)
			}
			continue
		}
		if isMirror(event.EventID) || isMirror(event.SeriesID) {
			wrong("the mirror %s is an origin: %s", event.EventID, event.ID)
		}
		if event.GroupID == "" && event.OwnerID != owner(event.AccountID) {
			wrong("%s has event %s of an account of %q", event.OwnerID, event.ID, owner(event.AccountID))
		}
	}
	for _, m := range w.MirrorDocuments() {
		if m.OwnerID != owner(m.TargetAccountID) {
			wrong("%s has mirror %s in an account of %q", m.OwnerID, m.ID, owner(m.TargetAccountID))
		}
		if m.FromAccountID != "" && m.OwnerID != owner(m.FromAccountID) {
			wrong("%s has mirror %s of an event of %q", m.OwnerID, m.ID, owner(m.FromAccountID))
		}
	}
	return problems
}

// judgeOrigins ends a world where a sync run took a mirror for an origin: it would not come
// to rest.
func (w *World) judgeOrigins(kind string) {
	if w.running != nil || kind != calendars.SyncKind {
		return
	}
	if problems := w.MirrorProblems(); len(problems) > 0 {
		w.t.Fatalf("%s", problems[0])
	}
}

// MirrorDisagreements are what must hold of mirroring in a world at rest. strict: events of
// mirrors that no document names count too. touched are the accounts, by name, where
// somebody changed mirrors by hand: only there may mirrors be left alone.
func (w *World) MirrorDisagreements(strict bool, touched map[string]bool) (problems []string) {
	w.t.Helper()
	if !w.Mirroring() {
		return nil
	}
	documents := map[string][]mirror.Mirror{} // by the target account
	for _, m := range w.MirrorDocuments() {
		documents[m.TargetAccountID] = append(documents[m.TargetAccountID], *m)
		switch m.State {
		case mirror.Active, mirror.Covered:
		case mirror.Suppressed, mirror.Contested:
			if !touched[w.nameOf(m.TargetAccountID)] && !m.IsLooping() {
				problems = append(problems, fmt.Sprintf("mirror %s is %s, and nobody changed it by hand", m.ID, m.State))
			}
		default:
			problems = append(problems, fmt.Sprintf("mirror %s is still %s: %s", m.ID, m.State, m.LastError))
		}
	}
	origins, events := map[string][]origin{}, map[string]mirror.Event{}
	for _, name := range w.MirroredNames() {
		origins[name] = w.originsOf(name)
	}
	for _, event := range w.CanonicalEvents() {
		events[event.ID] = *event
	}
	for _, name := range w.MirroredNames() {
		c := &comparison{world: w, name: name, strict: strict, origins: origins, events: events}
		c.read(documents[w.linked[name]])
		problems = append(problems, c.disagreements()...)
	}
	return problems
}

// nameOf is the account's name.
func (w *World) nameOf(accountID string) string {
	for name, id := range w.linked {
		if id == accountID {
			return name
		}
	}
	return accountID
}

// revealed says what a mirror's event has that none may have.
func revealed(calendar string, o Occurrence) (problems []string) {
	if len(o.Attendees) > 0 {
		problems = append(problems, fmt.Sprintf("%s has a mirror with guests: %s", calendar, o.ID))
	}
	for _, mark := range slices.Sorted(maps.Keys(o.Marks.Private)) {
		if mark != plan.MarkMirror && mark != plan.MarkInstallation {
			problems = append(problems, fmt.Sprintf("%s has a mirror with the property %s: %s", calendar, mark, o.ID))
		}
	}
	return problems
}
