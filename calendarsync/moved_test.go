package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/worldtest"
	"questscheduler/rules"
)

func TestMovedEvent_ToACalendarOfTheSamePerson_IsFollowed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveAway("gm", eventID, worldtest.Club)
	w.Run(time.Minute)

	stands(t, w, pollID, rules.StateOK, ten.Start)
	equal(t, "calendar", w.View(pollID).Poll.GoogleCalendarID, worldtest.ClubCalendar)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "moved_calendar"})
	atRest(t, w)
}
