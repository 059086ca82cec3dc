package notify_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/rules"
)

// paced is a world whose poll is announced as finalised, with four notices an hour:
// two at once.
func paced(t *testing.T) *world {
	t.Helper()
	w := announced(t)
	w.announcer.PerHour = 4
	return w
}

// directly has the web app cancel the poll and take that back, each announced, as long
// as there is a turn for it.
func (w *world) directly(times int) {
	w.t.Helper()
	for i := range times {
		if i%2 == 0 {
			w.cancel()
		} else {
			w.revive()
		}
		w.want("gm", 0)
		w.run()
		w.clock.add(time.Second)
	}
}

func TestPace_OverTheLimit_AnnouncesTheLatestStateLater(t *testing.T) {
	t.Parallel()
	w := paced(t)
	w.directly(7) // cancelled in the end, and people know that it is on again
	wantTexts(t, "ana", w.bell("ana"), cancelledBody, onAgainBody)
	wantTexts(t, "ben", w.bell("ben"), cancelledBody, onAgainBody)
	wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage, onAgainMessage)
	if got := w.field("Status"); got != "Cancelled" && got != "CANCELLED" {
		t.Errorf("the card shows %q before that", got)
	}
	w.makeCardPending()
	w.mustEnd() // the drain comes again when it is due
	a := w.announcement()
	wait := a.Due.Sub(w.clock.Now())
	if wait <= 0 || wait > 20*time.Minute || a.CardPending() {
		t.Fatalf("it is due in %v: %+v", wait, a)
	}
	w.clock.add(wait)
	w.checkCard()
	wantTexts(t, "ana", w.bell("ana"), cancelledBody, onAgainBody, cancelledBody)
	wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage, onAgainMessage, cancelledMessage)
	if a := w.announcement(); !a.Due.IsZero() || a.Announced.State.Status != rules.Cancelled {
		t.Errorf("left: %+v", a)
	}
}

func TestPace_TakenBackWhileDeferred_IsNotAnnounced(t *testing.T) {
	t.Parallel()
	w := paced(t)
	w.directly(4)
	w.clock.add(time.Hour)
	w.mustEnd()
	wantTexts(t, "ana", w.bell("ana"), cancelledBody, onAgainBody)
}

// Whatever direct writes a day brings, no hour has more notices.
func TestPace_OverADayOfDirectWrites_KeepsEachHour(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large numbers")
	}
	w := paced(t)
	var notified []time.Time
	for i := range 24 * 60 {
		before := len(w.bell("ana"))
		if i%2 == 0 {
			w.cancel()
		} else {
			w.revive()
		}
		w.want("gm", 0)
		w.run()
		for range len(w.bell("ana")) - before {
			notified = append(notified, w.clock.Now())
		}
		w.clock.add(time.Minute)
	}
	for i := range notified {
		if i >= 4 && notified[i].Sub(notified[i-4]) < time.Hour {
			t.Errorf("five notices between %v and %v", notified[i-4], notified[i])
		}
	}
	if len(notified) < 24 || len(w.messages(channel)) != len(notified) {
		t.Errorf("%d notices in a day, %d messages", len(notified), len(w.messages(channel)))
	}
}

// A run crashes at each of its calls, before or after the effect. The run that
// continues counts nothing, is not deferred, and repeats nothing.
func TestPace_CrashAtAnyStep_CountsAndDeliversOnce(t *testing.T) {
	t.Parallel()
	const most = 40
	struck := 0
	for call := 1; call <= most; call++ {
		for _, when := range []moment{before, after} {
			w := paced(t)
			w.directly(1)
			w.revive()
			w.want("gm", 0) // the last that has a turn now
			verdict := runTask(w.interrupt(call, when))
			if verdict.Outcome == runDone {
				call = most
			} else {
				struck++
			}
			w.toTheEnd()
			next := w.announcement().NextNotice
			if wait := next.Sub(w.clock.Now()); wait > 40*time.Minute {
				t.Errorf("call %d: the next would be due in %v: it was counted twice", call, wait)
			}
			w.cancel()
			w.want("gm", 0)
			w.mustEnd()
			if !w.announcement().Due.After(w.clock.Now()) {
				t.Errorf("call %d: a third at once is not put off", call)
			}
			wantTexts(t, "ana", w.bell("ana"), cancelledBody, onAgainBody)
			wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage, onAgainMessage)
		}
	}
	points.Struck(t, struck, 8)
}

func TestNamed_NeitherJoinedNorVoted_IsNotNotified(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.set(poll.Set("participantIds", []any{"gm", "ana", "dan", "eli", "ben"}))
	w.write(func(tx store.Tx) error {
		return first(
			tx.Merge(poll.AnnouncementPath(pollID), poll.NamedUpdates(pollID, []string{"ana", "ben", "dan", "fay"})...),
			voteOf("eli", "s1")(tx),
		)
	})
	w.cancel()
	w.want("gm", 0)
	w.mustEnd()
	// ana has voted, ben is in the group, nobody says who put eli there.
	for _, uid := range []string{"ana", "ben", "cho", "eli"} {
		wantTexts(t, uid, w.bell(uid), cancelledBody)
	}
	wantTexts(t, "dan", w.bell("dan"))
	// A person whose vote is deleted later is still notified; fay has left.
	wantTexts(t, "named", w.announcement().Named, "ben", "dan")
	w.write(func(tx store.Tx) error { return tx.Delete(poll.VotePath(pollID, "ana")) })
	w.revive()
	w.want("gm", 0)
	w.mustEnd()
	wantTexts(t, "ana", w.bell("ana"), cancelledBody, onAgainBody)
	w.write(voteOf("dan", "s1"))
	w.cancel()
	w.want("gm", 0)
	w.mustEnd()
	wantTexts(t, "dan", w.bell("dan"), cancelledBody)
}
