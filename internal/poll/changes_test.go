package poll_test

import (
	"slices"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// TestChanges_OfTheWebAppsFields_AreNamedAlone: what a transition does not change
// stays as somebody wrote it, be it ever so odd.
func TestChanges_OfTheWebAppsFields_AreNamedAlone(t *testing.T) {
	t.Parallel()
	odd := fields{
		"title": 7, "participantIds": []any{"gm", nil, 3}, "status": nil, "cancelledAt": "", "timezone": []any{},
		"finalizedSlotPriorityAtMs": "x", "updatedAt": "2026-02-02T09:30:00Z",
		"calendarSync": fields{"generation": 2.0, "error": fields{"code": "x", "at": moment, "message": "m", "more": 1}},
	}
	p := poll.Decode(store.Document{Path: poll.Path("p1"), Data: odd})
	if updates := p.Changes(); len(updates) > 0 {
		t.Errorf("nothing was changed, and %v is written", updates)
	}
	p.WinningSlotID, p.UpdatedAt = "s1", moment
	var named []string
	for _, update := range p.Changes() {
		named = append(named, update.Path.String())
	}
	if want := []string{"winningSlotId", "updatedAt"}; !slices.Equal(named, want) {
		t.Errorf("%v are written, want %v", named, want)
	}
}

// TestChanges_OfOursThatCannotBeRead_AreTakenAway: the web app shows a badge for
// whatever stands there.
func TestChanges_OfOursThatCannotBeRead_AreTakenAway(t *testing.T) {
	t.Parallel()
	before := fields{"cancelled": true, "calendarSync": fields{
		"rescheduled": fields{}, "error": "x", "cancelled": []any{}, "lastEventFingerprint": "garbage", "baseline": nil, "unknown": 1,
	}}
	p := poll.Decode(store.Document{Path: poll.Path("p1"), Data: before})
	same(t, "what is left", stored(t, before, p.Changes()...), fields{"calendarSync": fields{"baseline": nil, "unknown": int64(1)}})
}
