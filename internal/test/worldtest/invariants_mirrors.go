package worldtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
	owner := func(accountID string) string {
		return store.Fields(w.observed.document(accounts.Path(accountID)).Data).String("ownerId")
	}
	for _, event := range w.CanonicalEvents() {
		if isCopy(event) {
			if event.OwnerID != mirror.CopyOwner(owner(event.AccountID)) || event.Title+event.Description+event.Location != "" {
				wrong("%s has copy %s of an account of %q, with the text %q", event.OwnerID, event.ID, owner(event.AccountID), event.Title+event.Description+event.Location)
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
		documents[m.TargetAccountID] = append(documents[m.TargetAccountID], m)
		switch m.State {
		case mirror.Active, mirror.Covered:
		case mirror.Suppressed, mirror.Contested:
			if !touched[w.nameOf(m.TargetAccountID)] {
				problems = append(problems, fmt.Sprintf("mirror %s is %s, and nobody changed it by hand", m.ID, m.State))
			}
		default:
			problems = append(problems, fmt.Sprintf("mirror %s is still %s: %s", m.ID, m.State, m.LastError))
		}
	}
	origins := map[string][]Occurrence{}
	for _, name := range w.MirroredNames() {
		origins[name] = w.OccurrencesOf(name)
	}
	for _, name := range w.MirroredNames() {
		problems = append(problems, w.disagreementsIn(name, origins, documents[w.linked[name]], strict)...)
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

// target is what one account should show in one of its calendars, and shows.
type target struct {
	wanted map[string][]string // by meeting, any one of these
	shown  []Occurrence
}

// disagreementsIn compares what one account should show by mirrors with what it shows.
func (w *World) disagreementsIn(name string, origins map[string][]Occurrence, documents []mirror.Mirror, strict bool) (problems []string) {
	// left are meetings that are left alone here; mapped says which meeting an event shows.
	left, mapped := map[string]bool{}, map[string]string{}
	for _, m := range documents {
		if m.State == mirror.Suppressed || m.State == mirror.Contested {
			left[m.ICalUID] = true
		}
		if m.EventID != "" {
			mapped[m.EventID] = m.ICalUID
		}
	}
	native := map[string]bool{}
	for _, o := range origins[name] {
		if !o.IsMirror() && !o.declined() {
			native[o.meeting()] = true
		}
	}
	own, overlay := target{wanted: map[string][]string{}}, target{wanted: map[string][]string{}}
	lost := target{wanted: map[string][]string{}} // in an overlay calendar that was deleted
	for _, edge := range w.Edges() {
		if edge.ToAccountID != w.linked[name] {
			continue
		}
		into := &own
		if edge.Target == mirror.Overlay {
			into = &overlay
			if w.MirrorPerson().Overlays[edge.ToAccountID].Suppressed {
				into = &lost
			}
		}
		for _, o := range origins[w.calendarOf(edge)] {
			shown, is := o.projected(edge.Detail)
			if o.IsMirror() || !is || native[o.meeting()] || left[o.ICalUID] {
				continue
			}
			into.wanted[o.meeting()] = append(into.wanted[o.meeting()], shown.text())
		}
	}
	own.shown = origins[name]
	if id := w.Overlay(name); id != "" {
		all, exists := w.Occurrences(name, id)
		overlay.shown = all
		if !exists && !strict { // the daily reconciliation may be the first to hear of it
			maps.Copy(lost.wanted, overlay.wanted)
			clear(overlay.wanted)
		}
	}
	shown := map[string]string{} // by meeting
	for i, in := range []*target{&own, &overlay} {
		calendar := [...]string{"the calendar", "the overlay calendar"}[i] + " of " + name
		free := map[string][]Occurrence{} // by meeting and text: two meetings may show the same
		for _, o := range in.shown {
			uid, known := mapped[o.ID]
			if !known {
				uid, known = mapped[o.Master()]
			}
			switch {
			case !o.IsMirror() || left[uid]:
				continue
			case !known && !strict:
				continue
			case !known:
				problems = append(problems, fmt.Sprintf("%s has a mirror that no document names: %s %s", calendar, o.ID, o.text()))
				continue
			}
			problems = append(problems, revealed(calendar, o)...)
			free[uid+" "+o.text()] = append(free[uid+" "+o.text()], o)
		}
		for _, meeting := range slices.Sorted(maps.Keys(in.wanted)) {
			if shown[meeting] != "" {
				continue
			}
			choices := in.wanted[meeting]
			uid, _, _ := strings.Cut(meeting, " of ")
			at := slices.IndexFunc(choices, func(text string) bool { return len(free[uid+" "+text]) > 0 })
			if at < 0 && i == 0 && (len(overlay.wanted[meeting]) > 0 || !strict && len(lost.wanted[meeting]) > 0) {
				continue // the other edge has it
			}
			if at < 0 {
				problems = append(problems, fmt.Sprintf("%s lacks a mirror of meeting %s: %s", calendar, meeting, strings.Join(choices, " or ")))
				continue
			}
			shown[meeting] = calendar
			free[uid+" "+choices[at]] = free[uid+" "+choices[at]][1:]
		}
		for _, text := range slices.Sorted(maps.Keys(free)) {
			for _, o := range free[text] {
				problems = append(problems, fmt.Sprintf("%s has a mirror too many: %s %s", calendar, o.ID, text))
			}
		}
	}
	return problems
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
