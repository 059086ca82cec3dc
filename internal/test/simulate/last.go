package main

import (
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// acceptDuringErrors has the owners of moved sessions accept the new time while their polls show
// an error, which is still one afterwards.
func (l *life) acceptDuringErrors() {
	for _, p := range l.w.Polls() {
		if p.Status != rules.Finalized || p.Sync.Rescheduled == nil || p.Sync.State != rules.StateError {
			continue
		}
		l.say("%s: accepts the new time of poll %s during an error", p.CreatorID, p.ID)
		_, err := l.w.Scheduler.AcceptNew(l.w.Context(), worldtest.Person(p.CreatorID), p.ID, p.Sync.Applied.String(), worldtest.Cause)
		l.answer(err)
		if after, err := poll.Load(l.w.Context(), l.w.Documents, p.ID); err == nil && after.Sync.Error != nil &&
			after.Sync.State != rules.StateError {
			l.Errorf("poll %s shows %s beside the error %s", p.ID, after.Sync.State, after.Sync.Error.Code)
		}
	}
}

// endElsewhere gives each session whose deleted event may come back another end, at the very end
// of a world: it is another decision, so the event is not awaited any more.
func (l *life) endElsewhere() {
	for _, p := range l.w.Polls() {
		if p.Status != rules.Cancelled || p.Sync.Awaited == nil {
			continue
		}
		slot, err := poll.LoadSlot(l.w.Context(), l.w.Documents, p.ID, p.WinningSlotID)
		if err != nil || slot == nil || slot.AllDay {
			continue
		}
		edit := []scheduler.SlotEdit{{ID: slot.ID, Times: scheduler.Times{Start: slot.Start, End: slot.End.Add(15 * time.Minute)}}}
		l.say("%s: gives the session of poll %s another end", p.CreatorID, p.ID)
		_, err = l.w.Scheduler.Edit(l.w.Context(), worldtest.Person(p.CreatorID), p.ID, scheduler.Edit{Slots: &edit}, worldtest.Cause)
		l.answer(err)
		if after, loadErr := poll.Load(l.w.Context(), l.w.Documents, p.ID); err == nil && loadErr == nil && after.Sync.Awaited != nil {
			l.Errorf("poll %s awaits its event although its session ends later", p.ID)
		}
	}
}
