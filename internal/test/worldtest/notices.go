package worldtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// notice is the notice in the app of one transition of a poll.
type notice struct {
	kind   rules.Notice
	pollID string
	ref    string
	time   string // of the session, as the notice says it
	at     time.Time
	people []string
}

// sessionNotices are the notices of what became of a session.
var sessionNotices = []rules.Notice{rules.NoticeRescheduled, rules.NoticeRestored, rules.NoticeCancelled, rules.NoticeOnAgain}

// remember takes in a document of a person's notices. Others than those of
// sessions are passed over.
func (w *World) remember(document store.Document) (problems []string) {
	f := store.Fields(document.Data)
	kind, about := f.String("type"), f.Map("resource")
	pollID, ref := about.String("id"), strings.TrimPrefix(document.Path.ID(), "dedupe:")
	if !document.Exists() || !slices.Contains(sessionNotices, rules.Notice(kind)) {
		return nil
	}
	if w.past.notices[pollID] == nil {
		w.past.notices[pollID] = map[string]*notice{}
	}
	known := w.past.notices[pollID][ref]
	if known == nil {
		at := f.Map("metadata")
		known = &notice{
			kind: rules.Notice(kind), pollID: pollID, ref: ref,
			time: spanned(at.String("start"), at.String("end"), at.Bool("allDay")), at: f.Time("createdAt"),
		}
		w.past.notices[pollID][ref] = known
		problems = append(problems, w.paceProblems(pollID)...)
	}
	if known.kind != rules.Notice(kind) || "dedupe:"+f.String("dedupeKey") != document.Path.ID() {
		problems = append(problems,
			fmt.Sprintf("poll %s: the notice %s is one of %s and says %s", pollID, document.Path, known.kind, f.String("type")))
	}
	if person := document.Path.Parent().ID(); !slices.Contains(known.people, person) {
		known.people = append(known.people, person)
	}
	return problems
}

// mostSkew is how far the clocks of two instances may be apart.
const mostSkew = 10 * time.Minute

// paceProblems: no hour has more notices of a poll than are allowed. One more may
// be among them that was begun earlier, by a run that died. Where clocks differ, a
// notice may come early by that, and its time is wrong by as much.
func (w *World) paceProblems(pollID string) (problems []string) {
	hour := time.Hour
	if w.skewed {
		hour -= 2 * mostSkew
	}
	var times []time.Time
	for _, known := range w.past.notices[pollID] {
		times = append(times, known.at)
	}
	slices.SortFunc(times, time.Time.Compare)
	more := w.options.NoticesPerHour + 1
	for i := more; i < len(times); i++ {
		if times[i].Sub(times[i-more]) < hour {
			problems = append(problems,
				fmt.Sprintf("poll %s: people were notified more than %d times between %v and %v", pollID, more, times[i-more], times[i]))
		}
	}
	return problems
}

// spanned writes a time.
func spanned(start, end string, allDay bool) string {
	return fmt.Sprintf("%s to %s (%v)", start, end, allDay)
}

// noticeProblems: each announced transition was announced to all whom it concerned
// and to nobody else, and each notice makes sense after the one before it
// (invariant 4).
func (w *World) noticeProblems(announcement poll.Announcement, before map[string][]string) (problems []string) {
	notices := w.past.notices[announcement.PollID]
	refs := slices.Sorted(maps.Keys(notices)) // they grow
	if ref := announcement.Channels[inAppChannel].Ref; ref != "" && notices[ref] == nil {
		refs = append(refs, ref)
		w.past.unannounced[ref] = true
	}
	journal := map[string]poll.JournalEntry{}
	for _, entry := range w.Journal(announcement.PollID) {
		journal[entry.ID] = entry
	}
	for i, ref := range refs {
		if ref == announcement.Delivering.Ref || w.past.checked[ref] {
			continue // still being delivered, or checked before
		}
		w.past.checked[ref] = true
		n := notices[ref]
		if n == nil {
			n = &notice{pollID: announcement.PollID, ref: ref}
		}
		problems = append(problems, w.recipientProblems(*n, journal[ref], before)...)
		if i > 0 && n.kind != "" && notices[refs[i-1]] != nil && !w.skewed { // else their order is not known
			problems = append(problems, w.followsOn(*notices[refs[i-1]], *n, journal)...)
		}
	}
	return problems
}

// recipientProblems checks who was notified of a transition, given whom the poll
// concerned ever since the delivery began.
func (w *World) recipientProblems(n notice, entry poll.JournalEntry, before map[string][]string) (problems []string) {
	if entry.ID == "" { // the poll was deleted
		return nil
	}
	p, err := poll.Load(w.ctx, w.Documents, n.pollID)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	w.must(err)
	actor := cmp.Or(entry.Who, p.CreatorID)
	for _, person := range n.people {
		if w.past.preferences.mutes(person, n.kind) {
			problems = append(problems, fmt.Sprintf("poll %s: %s was notified of %s, and had muted it", n.pollID, person, n.kind))
		}
		if person == actor || !w.past.ever[n.pollID][person] {
			problems = append(problems, fmt.Sprintf("poll %s: %s was notified of %s, which does not concern them", n.pollID, person, n.kind))
		}
	}
	for _, person := range w.past.concerned[n.pollID] {
		due := person != actor && slices.Contains(before[n.pollID], person) && !w.past.preferences.mutes(person, n.kind)
		if due && !slices.Contains(n.people, person) {
			problems = append(problems, fmt.Sprintf("poll %s: %s was not notified of it (%s%s)", n.pollID, person, entry.Command, entry.Decision))
		}
	}
	if entry.Announcement == "" {
		problems = append(problems,
			fmt.Sprintf("poll %s: the transition %s%s was announced, and needs no announcement", n.pollID, entry.Command, entry.Decision))
	}
	after := entry.After
	// A restore whose event went with the cancellation gives back the time of the
	// slot, which no event has: its entry has no time after it, or that of the event.
	restored := strings.HasPrefix(entry.Trigger, "outside") && (after.IsZero() || entry.EventID == "")
	if n.kind == rules.NoticeRescheduled && !restored &&
		n.time != spanned(rules.Instant(after.StartTime()), rules.Instant(after.EndTime()), after.AllDay) {
		problems = append(problems, fmt.Sprintf("poll %s was announced as moved to %s, and moved to %v", n.pollID, n.time, entry.After))
	}
	return problems
}

// latestRef is the ref of the latest of some notices; "" where there is none.
func latestRef(notices map[string]*notice) (latest string) {
	for ref := range notices {
		latest = max(latest, ref)
	}
	return latest
}

// followsOn checks that one notice of a poll can come after another. Between the two
// there may be announcements that concerned nobody, and those that all had muted.
func (w *World) followsOn(last, next notice, journal map[string]poll.JournalEntry) (problems []string) {
	if len(w.past.preferences.muted) > 0 || last.ref <= w.past.former[next.pollID] {
		return nil // or the last one was of another poll of this id
	}
	same := last.kind == next.kind && (last.time == next.time || next.kind == rules.NoticeCancelled)
	again := false // the poll was opened or finalised again between the two
	for id, entry := range journal {
		again = again || id > last.ref && id <= next.ref &&
			(w.past.unannounced[id] || entry.Command == rules.CommandFinalise || entry.Command == rules.CommandReopen ||
				strings.HasPrefix(entry.Trigger, "outside"))
	}
	if same && !again {
		problems = append(problems, fmt.Sprintf("poll %s: people were notified twice that it was %s", next.pollID, next.kind))
	}
	restorable := last.kind == rules.NoticeRescheduled || last.kind == rules.NoticeOnAgain // which may be at a new time
	if next.kind == rules.NoticeRestored && !restorable ||
		next.kind == rules.NoticeOnAgain && last.kind != rules.NoticeCancelled && !again {
		problems = append(problems, fmt.Sprintf("poll %s: %s was announced after %s", next.pollID, next.kind, last.kind))
	}
	return problems
}

// rememberDelivery notes whether a delivery of a poll's announcement is under way,
// and who was named in the poll.
func (w *World) rememberDelivery(document store.Document) {
	delete(w.past.delivering, document.Path.ID())
	w.past.named[document.Path.ID()] = poll.DecodeAnnouncement(document).Named
	if document.Exists() && poll.DecodeAnnouncement(document).Delivering.Ref != "" {
		w.past.delivering[document.Path.ID()] = true
	}
}

// rememberConcerned notes whom each poll concerns now, and gives whom it
// concerned before. During a delivery it notes only people whom the poll
// concerned before, too: a run that dies leaves its delivery unfinished for minutes,
// and a person who joins after the notices were written was rightly not notified.
func (w *World) rememberConcerned() (before map[string][]string) {
	before, w.past.concerned = w.past.concerned, map[string][]string{}
	for _, p := range w.picture.polls.all {
		var group *poll.Group
		if known, ok := w.past.groups[p.GroupID]; ok {
			group = &known
		}
		people := append(w.whoTakesPart(p, group), p.CreatorID)
		w.Concern(p.ID, people...)
		if w.past.delivering[p.ID] {
			people = slices.DeleteFunc(people, func(person string) bool { return !slices.Contains(before[p.ID], person) })
		}
		w.past.concerned[p.ID] = people
	}
	return before
}

// whoTakesPart are the participants of a poll without those whom somebody else
// named, and who have neither joined nor voted. The group of a creator who left it
// counts for nobody who has not voted.
func (w *World) whoTakesPart(p poll.Poll, group *poll.Group) []string {
	people := slices.Clone(p.People(group))
	left := group != nil && !group.Has(p.CreatorID)
	if len(w.past.named[p.ID]) == 0 && !left {
		return people
	}
	var count []string
	for _, vote := range w.Votes(p.ID) {
		count = append(count, vote.UserID)
	}
	if group != nil && !left {
		count = append(count, group.MemberIDs...)
	}
	return slices.DeleteFunc(people, func(person string) bool {
		named := slices.Contains(w.past.named[p.ID], person) || left && !slices.Contains(p.People(nil), person)
		return named && !slices.Contains(count, person)
	})
}

// Concern says that a poll concerns people, or may for a moment.
func (w *World) Concern(pollID string, people ...string) {
	if w.past.ever[pollID] == nil {
		w.past.ever[pollID] = map[string]bool{}
	}
	for _, person := range people {
		w.past.ever[pollID][person] = true
	}
}
