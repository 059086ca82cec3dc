package notify

import (
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// pace gives what is written when a notice of a poll is begun, or how long it has
// to wait. Each notice that is begun is one document a recipient at most and one
// message in the channel, so one count for the poll bounds each of them, whatever
// the number of recipients.
//
// What has to wait stays wanted, and is compared anew with what people know when
// its time has come: the latest state is told then, and nothing where it is what
// they know. A notice that was begun is counted in the transaction that begins it;
// a run that goes on with it, and an operator who sends it again, count none.
func (a *Announcer) pace(announcement poll.Announcement) (updates []store.Update, wait time.Duration) {
	if a.PerHour == 0 {
		return nil, 0
	}
	next, wait := rules.PerHour(a.PerHour).Arrive(announcement.NextNotice, a.Now())
	if wait > 0 {
		return nil, wait
	}
	return []store.Update{poll.NextNoticeUpdate(store.Instant(next))}, 0
}
