package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// settle ends all faults, lets the world come to rest by a sweep alone, and
// checks what must hold in the end.
func (l *life) settle() {
	l.say("the faults end; clocks are correct again; everybody links again; what was put away is brought back; a sweep")
	l.skewed, l.consumers.share = false, 0
	l.w.SetClocks()
	l.w.Calm()
	l.w.Heal()
	l.w.HealDiscord()
	l.w.LimitGrants(0)
	for _, person := range l.owners {
		l.w.Link(person)
	}
	for _, name := range l.mirrored.names {
		l.w.LinkMirrored(name)
	}
	if l.mirrored.followed {
		l.w.Link(worldtest.Neighbour)
	}
	if l.grouped.group != "" {
		l.w.LinkPlayers()
	}
	l.linkAttended()
	l.findLost()
	l.deleteBrought()
	l.deliverLate(func(latePress) bool { return true })
	l.w.LosePushes()
	l.w.Sweep() // finds what was edited behind the program's back
	l.w.Run(l.patience())
	for _, p := range l.w.Polls() {
		if p.Status == rules.Archived {
			_, err := l.w.Scheduler.Unarchive(l.w.Context(), worldtest.Person(p.CreatorID), p.ID, worldtest.Cause)
			l.must(err)
		}
	}
	confirmed := l.draws.IntN(2) == 0
	if confirmed {
		l.release()
	}
	l.w.LosePushes()
	l.heal()
	l.reconcileRecreated()
	l.settleGroups()
	l.settleMirrors()
	l.settleAttended()
	l.w.Run(5 * time.Minute)
	l.hearAll()
	err := l.w.SweepPages(scheduler.Cause{Trigger: "sweep", Trace: "last"}) // of what is not needed since
	l.must(err)
	l.w.RunDue()
	l.checkPressed()
	l.describe()
	for _, problem := range append(l.w.HistoryProblems(), l.w.Problems()...) {
		if !l.unnoticed(problem) {
			l.problems = append(l.problems, problem)
		}
	}
	l.problems = append(l.problems, l.w.Uncovered()...)
	l.problems = append(l.problems, l.w.ChannelProblems()...)
	l.problems = append(l.problems, l.w.UnknownChannels()...)
	l.problems = append(l.problems, l.w.OpenedTooOften()...)
	l.problems = append(l.problems, l.w.CardProblems()...)
	l.problems = append(l.problems, l.w.ConsumerProblems()...)
	l.problems = append(l.problems, l.w.Unread()...)
	l.problems = append(l.problems, l.w.TouchedProblems()...)
	l.checkStrangers()
	l.left()
	for _, p := range l.w.Polls() {
		l.compare(p)
	}
	l.audit(confirmed)
	l.endElsewhere()
}

// audit checks the world with code that knows nothing of the program's.
func (l *life) audit(confirmed bool) {
	touched := slices.Sorted(maps.Keys(l.mirrored.touched))
	for _, player := range worldtest.Players {
		if l.grouped.kept[player.ID] {
			touched = append(touched, player.ID)
		}
	}
	for _, problem := range l.w.AuditProblems(confirmed, l.stoppedCopies(), touched...) {
		if !l.unnoticed(problem) && !l.excused(problem) {
			l.problems = append(l.problems, problem)
		}
	}
}

// findLost checks what a lost calendar shows, and gives it back.
func (l *life) findLost() {
	if l.w.ClubLost() {
		l.say("the club's calendar stays lost; a sweep")
		l.w.LosePushes()
		l.w.Sweep()
		l.w.Run(l.patience())
		l.describe()
		l.problems = append(l.problems, l.w.LostProblems()...)
		l.problems = append(l.problems, l.w.LostAuditProblems()...)
		l.acceptDuringErrors()
	}
	l.w.ShareClub(worldtest.Owner)
}

// heal has the world repaired by a sweep that skips nothing, or by sweeps of the
// timers, of which the second at the latest skips no calendar as fresh.
func (l *life) heal() {
	if l.draws.IntN(4) > 0 {
		l.w.Sweep()
		return
	}
	l.say("a day by the timers alone")
	l.w.RunTimers(24*time.Hour, 30*time.Minute)
}

// hearAll lets the time pass for which notices are put off: twice where another
// clock counted them.
func (l *life) hearAll() {
	for range 2 {
		for _, p := range l.w.Polls() {
			announcement, err := poll.LoadAnnouncement(l.w.Context(), l.w.Documents, p.ID)
			l.must(err)
			if due := announcement.Due; !due.IsZero() { // the next drain hands it over
				l.w.Run(max(due.Sub(l.w.Clock.Now()), 0) + time.Minute)
			}
		}
	}
}

// unnoticed reports whether a problem is about a poll without an event of which only
// the slot was edited directly, without a document change: no sweep can query those,
// and nothing depends on it until the poll changes again.
func (l *life) unnoticed(problem string) bool {
	return slices.ContainsFunc(l.w.Polls(), func(p poll.Poll) bool {
		return strings.Contains(problem, p.ID) && p.EditedDirectly() && !p.Linked() && p.Status == p.Sync.Recorded.Status
	})
}

// patience is how long what was refused is left alone: for minutes where an
// account had no grant, where an event may yet be made by a finalisation that was
// superseded, and where a watch channel was granted for minutes, by a clock that
// was wrong; longer where a quota was used up, or work failed again and again.
func (l *life) patience() time.Duration {
	now, wait := l.w.Clock.Now(), 16*time.Minute+mostSkew
	left, _, err := calendars.Paused(l.w.Context(), l.w.Documents, now, store.Paging{Limit: 0})
	l.must(err)
	for _, calendar := range left { // its task may not know: it died, or is another one
		wait = max(wait, calendar.PausedUntil.Sub(now)+3*time.Minute)
	}
	for _, task := range l.w.Wakes.Due(now.Add(24 * time.Hour)) {
		wait = max(wait, task.Due.Sub(now)+3*time.Minute)
	}
	for _, depth := range l.w.Depths() { // the drain finds it when it is due, and nothing wakes it before
		for _, failing := range depth.Failing {
			wait = max(wait, failing.Due.Sub(now)+3*time.Minute)
		}
	}
	return wait
}

// release confirms every cancellation that is held; else it stays held.
func (l *life) release() {
	var polls []string
	for _, k := range l.polls {
		polls = append(polls, k.id)
	}
	for _, calendar := range l.held() {
		l.say("%s: confirms all that is held of %s", calendar.OwnerID, calendar.CalendarID)
		l.answer(l.w.Confirm(calendar, polls))
	}
}

// reconcileRecreated reconciles the polls whose id was used again, as their document
// changes would. No sweep finds such a poll that has no announcement.
func (l *life) reconcileRecreated() {
	for _, id := range l.recreated {
		_, err := l.w.Scheduler.Reconcile(l.w.Context(), id, worldtest.Cause)
		l.must(err)
	}
	l.w.RunDue()
}

// left finds work that is still pending, and remains of polls that the web app
// deleted. (A sweep finds those by their announcements: only a document change finds
// a journal without one.)
func (l *life) left() {
	for _, id := range l.vanished {
		if l.w.Document(poll.AnnouncementPath(id)).Exists() {
			l.Errorf("the announcement of poll %s is left, which was deleted", id)
		}
		for _, snapshot := range l.w.Snapshots() {
			if snapshot.Path.Below(poll.Path(id)) {
				l.Errorf("a snapshot is left of poll %s, which was deleted", id)
			}
		}
	}
	for _, p := range l.w.Polls() {
		for _, entry := range l.w.Journal(p.ID) {
			if entry.CreatorID != p.CreatorID || p.Pristine() {
				l.Errorf("poll %s of %s has an entry of the journal of another one: %+v", p.ID, p.CreatorID, entry)
			}
		}
	}
	for _, intent := range l.w.Intents() {
		l.Errorf("an intent is left: %+v", intent)
	}
	for _, depth := range l.w.Depths() {
		// What became due since the last drain is the next one's.
		late := depth.Due > 0 && depth.Oldest.Before(l.w.Clock.Now().Add(-time.Minute))
		if late || len(depth.Failing) > 0 {
			l.Errorf("work is left at %v: %+v", l.w.Clock.Now(), depth)
		}
	}
	found, _, err := calendars.Followed(l.w.Context(), l.w.Documents, store.Paging{Limit: 0})
	l.must(err)
	for _, calendar := range found {
		planned := calendar.SyncCause == calendarsync.SweepKind && calendar.SyncAt.After(l.w.Clock.Now()) // before a session
		due := !calendar.SyncAt.IsZero() && !planned || calendar.HasBacklog()
		if due || calendar.SyncPending || !calendar.FailedSince.IsZero() {
			l.Errorf("calendar %s still has a sync pending, or is failing: %s", calendar.CalendarID, calendar.LastError)
		}
	}
}

// compare checks that a poll agrees with its event and with what was announced. Held
// cancellations await their owner, who was notified.
func (l *life) compare(p poll.Poll) {
	winning, err := poll.LoadSlot(l.w.Context(), l.w.Documents, p.ID, p.WinningSlotID)
	l.must(err)
	over := p.Rules("", winning, nil).Over(l.w.Clock.Now(), rules.PastAfter) // whose event changes nothing any more
	switch said := l.w.Disagreement(p); {
	case l.w.Held(p):
		if !l.notifiedOfHold(p) {
			l.Errorf("poll %s is held, and its owner was not notified", p.ID)
		}
	case said != "":
		l.Errorf("%s", said)
	case p.Sync.Error != nil && p.Sync.Error.Code != rules.RecurringUnsupported && !(over && p.Sync.Error.Code == rules.UnreadableEvent):
		l.Errorf("poll %s shows the error %+v", p.ID, p.Sync.Error)
	}
	announcement, err := poll.LoadAnnouncement(l.w.Context(), l.w.Documents, p.ID)
	l.must(err)
	wanted, heard := p.AnnouncedState(winning), announcement.Announced.State
	if notice := rules.Announce(heard, wanted); notice != rules.NoticeNone {
		l.Errorf("poll %s still has %s to announce: %+v", p.ID, notice, announcement)
	}
}
