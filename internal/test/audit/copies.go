package audit

import (
	"maps"
	"slices"
	"strings"
)

// edge is one line of a person's policy: what one calendar shows is copied to an account.
// It leads to calendar to, "" for one that its owner deleted; shown are all calendars of the
// account where another edge may have put the copy instead.
type edge struct {
	owner, from, to, detail string
	shown                   []string
}

// The details of edges that show more than that somebody is busy.
const (
	title = "TITLE"
	full  = "FULL"
)

// edges are those between accounts that can be used.
func (a *audit) edges() (all []edge) {
	overlays := map[string]record{}
	for _, person := range a.people {
		for account, overlay := range mapOf(person.value("overlays")) {
			overlays[account] = record{fields: mapOf(overlay)}
		}
	}
	for _, policy := range a.policies {
		for _, line := range policy.below("edges") {
			from, to := a.accounts[line.text("fromAccountId")], a.accounts[line.text("toAccountId")]
			if from.text("status") != "active" || to.text("status") != "active" {
				continue
			}
			e := edge{owner: policy.text("ownerId"), from: line.text("fromCalendarId"), to: primary(to), detail: line.text("detail")}
			if e.from == "" {
				e.from = primary(from)
			}
			e.shown = []string{primary(to)}
			if overlay := overlays[to.id]; overlay.text("calendarId") != "" && !overlay.flag("suppressed") {
				e.shown = append(e.shown, overlay.text("calendarId"))
			}
			if line.text("target") == "overlay" {
				e.to = strings.Join(e.shown[1:], "")
			}
			if from.text("ownerId") != e.owner || to.text("ownerId") != e.owner {
				a.found("%s has an edge between accounts of %s and %s", e.owner, from.text("ownerId"), to.text("ownerId"))
			}
			all = append(all, e)
		}
	}
	return all
}

// allowed is how a copy may show an event: its text for a detail, and no more.
func (e event) allowed(detail string) (text string, shown bool) {
	if e.private() {
		detail = ""
	}
	at := e.text() + " "
	switch {
	case e.declined() || e.Transparency == "transparent" && detail != full:
		return "", false
	case detail == full:
		return at + strings.TrimSpace(e.Summary) + "/" + strings.TrimSpace(e.Description) + "/" + strings.TrimSpace(e.Location), true
	case detail == title:
		return at + strings.TrimSpace(e.Summary) + "//", true
	default:
		return at + "Busy//", true
	}
}

// checkCopies: each calendar shows what its person's edges and groups say, and no copy that
// neither calls for. So nobody's calendar shows the text of another person's.
func (a *audit) checkCopies() error {
	edges := a.edges()
	may := map[string]map[string]bool{} // the texts that copies may have, by calendar
	permit := func(calendar, text string) {
		if may[calendar] == nil {
			may[calendar] = map[string]bool{}
		}
		may[calendar][text] = true
	}
	for _, e := range edges {
		source, err := a.list(e.from)
		if err != nil {
			return err
		}
		for _, origin := range source.Items {
			text, shown := origin.allowed(e.detail)
			if a.isCopy(origin) || !shown {
				continue
			}
			permit(e.to, text)
			if a.Stopped[origin.ID] || a.Stopped[origin.Series] {
				continue
			}
			if err := a.checkShown(e, origin, text); err != nil {
				return err
			}
		}
	}
	for _, text := range a.groupTexts() {
		permit(text.calendar, text.text)
	}
	for _, calendar := range a.calendars(edges) {
		shown, err := a.list(calendar)
		if err != nil {
			return err
		}
		for _, e := range shown.Items {
			text := e.text() + " " + e.Summary + "/" + e.Description + "/" + e.Location
			if a.isCopy(e) && !a.Touched[calendar] && !may[calendar][text] {
				a.found("calendar %s shows the copy %s, %q, that no edge and no group calls for", calendar, e.ID, text)
			}
		}
	}
	return nil
}

// calendars are all that can be read: people's own, and those that edges lead to.
func (a *audit) calendars(edges []edge) []string {
	all := slices.Collect(maps.Keys(a.Readers))
	for _, e := range edges {
		if e.to != "" && a.Readers[e.to] != "" {
			all = append(all, e.to)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkShown: the account that an edge leads to shows an event, as a copy or as the meeting
// that its owner was invited to there.
func (a *audit) checkShown(e edge, origin event, text string) error {
	if e.to == "" || slices.ContainsFunc(e.shown, func(calendar string) bool { return a.Touched[calendar] }) {
		return nil
	}
	for _, calendar := range e.shown {
		shown, err := a.list(calendar)
		if err != nil || !shown.there {
			return err
		}
		for _, other := range shown.Items {
			if copied := a.isCopy(other); !copied && other.UID == origin.UID || copied && other.text() == origin.text() {
				return nil
			}
		}
	}
	a.found("calendar %s lacks a copy of event %s of %s: %q", e.to, origin.ID, e.from, text)
	return nil
}
