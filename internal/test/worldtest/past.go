package worldtest

import (
	"slices"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// past is what a world remembers of what happened in it, for the invariants
// that no single moment shows.
type past struct {
	// unknown are the documents with fields that the program has never heard of.
	unknown map[store.Path]bool
	// snapshots hold each snapshot's document as it was first read.
	snapshots map[store.Path]map[string]any
	// groups are all groups by id. By poll, concerned are the people whom it
	// concerned at the last check and, during a delivery, ever since that began; ever
	// are all whom it concerned at some time; delivering are polls with a delivery
	// under way.
	groups     map[string]poll.Group
	concerned  map[string][]string
	ever       map[string]map[string]bool
	delivering map[string]bool
	// named are, by poll, those whom somebody else put into it.
	named map[string][]string
	// announced are the announcements as they were when the world was last asked.
	announced map[string]poll.Announcement
	// notices are the notices in the app, by poll and announcement reference;
	// checked are those that were checked.
	notices map[string]map[string]*notice
	// unannounced are the announcements that concerned nobody, by their ref.
	unannounced map[string]bool
	checked     map[string]bool
	// former is, by poll that was made anew under its id, the last announcement of the one before.
	former map[string]string
	// judged are the journal entries that were checked.
	judged map[string]bool
	// absences are, by calendar and event, when an event was out of a calendar.
	absences map[string][]absence
	// confirmed are events whose cancellations an owner confirmed.
	confirmed map[string]bool
	// adopted are events with ids of Google's making that polls followed; moved
	// are those that were moved into a calendar and are followed as a guest's copy,
	// by calendar and event.
	adopted, moved map[string]bool
	// arrived says, by calendar and event, when an event was moved there that is
	// there still; owned is since when gm owns the club's calendar.
	arrived map[string]time.Time
	owned   time.Time
	// pushed are calendars, by key, of which an acknowledged push said that they
	// changed, and of which no listing began since.
	pushed map[string]bool
	// listings count those of each calendar, by key.
	listings map[string]int
	// onlyRead: gm was but a reader of the club's calendar, and is no owner again.
	onlyRead bool
	// lost is since when gm has no access to it at all.
	lost time.Time
	// posted is how many Discord messages were checked. blind: the bot could not
	// always see what it had posted.
	posted int
	blind  bool
	silent bool // see Silence
	// channelsGone are the channels of Discord that are deleted, by id.
	channelsGone map[string]bool
	preferences  preferences
	// wrong is what was found at once, such as a call that should not have been.
	wrong []string
}

func newPast() past {
	return past{
		unknown: map[store.Path]bool{}, snapshots: map[store.Path]map[string]any{},
		groups: map[string]poll.Group{}, concerned: map[string][]string{}, ever: map[string]map[string]bool{},
		delivering: map[string]bool{}, named: map[string][]string{}, announced: map[string]poll.Announcement{},
		notices: map[string]map[string]*notice{}, unannounced: map[string]bool{}, checked: map[string]bool{}, judged: map[string]bool{},
		absences: map[string][]absence{}, confirmed: map[string]bool{}, adopted: map[string]bool{}, moved: map[string]bool{},
		arrived: map[string]time.Time{},
		pushed:  map[string]bool{}, listings: map[string]int{}, channelsGone: map[string]bool{}, former: map[string]string{},
	}
}

// HistoryProblems says what was wrong with what happened since it was last
// asked. Worlds that go on for long ask it before Problems, each time.
func (w *World) HistoryProblems() (problems []string) {
	w.t.Helper()
	defer w.meter.turn(w.meter.turn(checks))
	w.picture.refresh()
	fresh := latest(w.picture.fresh)
	w.picture.fresh = nil
	problems, w.past.wrong = w.past.wrong, nil
	for _, document := range fresh {
		problems = append(problems, w.unknownProblems(document)...)
		switch document.Path.Collection() {
		case allSnapshots.Collection:
			problems = append(problems, w.snapshotChanged(document)...)
		case allGroups.Collection:
			w.past.groups[document.Path.ID()] = poll.DecodeGroup(document)
		case allNotices.Collection:
			problems = append(problems, w.remember(document)...)
		case allAnnouncements.Collection:
			w.rememberDelivery(document)
			problems = append(problems, w.droppedProblems(document)...)
		}
	}
	before := w.rememberConcerned()
	for _, document := range fresh {
		switch document.Path.Collection() {
		case allPolls.Collection:
			if document.Exists() {
				p := poll.Decode(document)
				journal := w.Journal(p.ID)
				problems = append(problems, w.deletionProblems(p, journal)...)
				problems = append(problems, w.rescheduleProblems(p, journal)...)
			}
		case allAnnouncements.Collection:
			if document.Exists() {
				problems = append(problems, w.noticeProblems(poll.DecodeAnnouncement(document), before)...)
			}
		}
	}
	return append(problems, w.messageProblems()...)
}

// latest leaves of documents that were taken in several times the last.
func latest(documents []store.Document) []store.Document {
	last := map[store.Path]int{}
	for i, document := range documents {
		last[document.Path] = i
	}
	i := -1
	return slices.DeleteFunc(documents, func(document store.Document) bool { i++; return last[document.Path] != i })
}

// lastTransition is the newest entry that may have changed a poll's times or
// status.
func lastTransition(journal []poll.JournalEntry) (poll.JournalEntry, bool) {
	for _, entry := range slices.Backward(journal) {
		switch entry.Decision {
		case rules.Warn, rules.Clear, rules.Record:
		default:
			return entry, true
		}
	}
	return poll.JournalEntry{}, false
}

// once reports whether a journal entry is checked for the first time.
func (w *World) once(entry poll.JournalEntry) bool {
	again := w.past.judged[entry.ID]
	w.past.judged[entry.ID] = true
	return !again
}
