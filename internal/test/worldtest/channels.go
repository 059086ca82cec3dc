package worldtest

import (
	"cmp"
	"fmt"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// LimitGrants has Google grant watch channels for that long at most, from now on;
// 0: as the world's settings have it.
func (w *World) LimitGrants(longest time.Duration) {
	w.Google.SetChannelRules(google.ChannelRules{LongestGrant: cmp.Or(longest, w.options.LongestGrant)})
}

// HoldPushes keeps the pushes of each channel back until it is stopped, and
// delivers them then.
func (w *World) HoldPushes() {
	w.Google.SetChannelRules(google.ChannelRules{LongestGrant: w.options.LongestGrant, HoldUntilStopped: true})
}

// ChannelProblems says where a calendar that a poll follows has another number of
// watch channels that live than one, or another calendar any. There is none after
// a sweep without faults.
func (w *World) ChannelProblems() (problems []string) {
	w.t.Helper()
	live := map[string]int{}
	for _, document := range w.Watches() {
		f := store.Fields(document.Data)
		if f.String("status") == string(calendarsync.Active) && f.Time("expiration").After(w.Clock.Now()) {
			live[f.String("calendarKey")]++
		}
	}
	for _, calendar := range decoded(w.all(allCalendars), calendars.Decode) {
		wanted := 0
		if calendar.Wanted() && !w.options.NoPushes {
			wanted = 1
		}
		if live[calendar.Key] != wanted {
			problems = append(problems,
				fmt.Sprintf("calendar %s has %d live watch channels, and its interests are %v", calendar.CalendarID, live[calendar.Key],
					calendar.Interests))
		}
	}
	return problems
}

// judgeRetired: the program gives up a watch channel of a followed calendar only
// once another one is live, so that there is no gap. Concurrent operations, wrong
// clocks and the follow-up of a change of an account are not judged: they work on
// older state.
func (w *World) judgeRetired(path store.Path) {
	given := store.Fields(w.observed.document(path).Data)
	if w.stopping || w.following || w.running != nil || w.skewed || given.String("status") != string(calendarsync.Retiring) {
		return
	}
	key := given.String("calendarKey")
	status, turns := w.accountIs(given.String("accountId"))
	if status != accounts.Active || turns || !calendars.Decode(w.observed.document(calendars.Path(key))).Wanted() {
		return
	}
	for _, other := range w.all(allWatches) {
		f := store.Fields(other.Data)
		if f.String("status") == string(calendarsync.Active) && f.String("calendarKey") == key && f.Time("expiration").After(w.Clock.Now()) {
			return
		}
	}
	w.wrong("watch channel %s of calendar %s was given up while no other one lives", path.ID(), given.String("calendarId"))
}

// openEvery is how soon a calendar is given another watch channel.
const openEvery = 15 * time.Minute

// judgeOpened: a watch channel is asked for once in openEvery, but for those that
// were given up since. Clocks that are off count otherwise.
func (w *World) judgeOpened(path store.Path) {
	asked := store.Fields(w.observed.document(path).Data)
	if w.skewed {
		return
	}
	for _, other := range w.all(allWatches) {
		f := store.Fields(other.Data)
		runs := f.String("status") == string(calendarsync.Active)
		ended := f.String("status") == string(calendarsync.Expired) && !f.Time("expiration").After(w.Clock.Now())
		if f.String("calendarKey") == asked.String("calendarKey") && (runs || ended) && f.Time("grantedAt").After(w.Clock.Now().Add(-openEvery)) {
			w.commits.often = append(w.commits.often,
				fmt.Sprintf("watch channel %s of calendar %s was asked for at %v, and another was granted at %v",
					path.ID(), asked.String("calendarId"), w.Clock.Now(), f.Time("grantedAt")))
		}
	}
}

// OpenedTooOften says which watch channels were asked for too soon after another of
// the same calendar (an operator may).
func (w *World) OpenedTooOften() []string { return w.commits.often }

// UnknownChannels says which watch channels are open at Google and unknown to
// the program: what they push is refused, and nobody thinks of stopping them.
// Those that nobody could stop, since their grant was revoked, go by themselves.
func (w *World) UnknownChannels() (problems []string) {
	w.t.Helper()
	for _, id := range w.Google.OpenChannels() {
		if w.Google.Stoppable(id) && w.watch(id) == nil {
			problems = append(problems, fmt.Sprintf("watch channel %s is open at Google, and nobody knows it", id))
		}
	}
	return problems
}

// watch is the document of a watch channel, read as no read of the program; nil
// where there is none.
func (w *World) watch(id string) store.Fields {
	return store.Fields(w.observed.document(store.Doc("calendarWatches", id)).Data)
}

// StopChannels stops every watch channel, as a program does that will not be
// reached again.
func (w *World) StopChannels() error {
	w.stopping = true
	defer func() { w.stopping = false }()
	return w.Watcher.StopAll(w.ctx)
}

// Held reports whether a poll's cancellation awaits its owner's confirmation: both
// the poll and the calendar state say so.
func (w *World) Held(p poll.Poll) bool {
	w.t.Helper()
	entry, _, err := poll.IndexOf(w.ctx, w.Documents, p)
	w.must(err)
	if p.Sync.Error == nil || p.Sync.Error.Code != rules.MassCancellationHeld || entry == nil {
		return false
	}
	calendar, _, err := calendars.Load(w.ctx, w.Documents, entry.AccountID, entry.CalendarID)
	w.must(err)
	return calendar.Deferred(entry.EventID).Why == calendars.DeferredHeld
}
