package notify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/notify"
)

// shown is everything that people see of the poll.
func (w *world) shown() string {
	w.t.Helper()
	var lines []string
	for _, uid := range []string{"gm", "ana", "ben", "cho"} {
		lines = append(lines, fmt.Sprint(uid, w.bell(uid)))
	}
	cards := w.cards(channel)
	status := ""
	if len(cards) == 1 {
		status = w.field("Status")
	}
	problem, named := w.poll().Discord.Error, w.announcement().Named
	return strings.Join(append(lines, fmt.Sprint(contents(w.messages(channel)), len(cards), status, problem, named)), "\n")
}

// Whichever read of a run fails, the run says so, and the next ones show what an undisturbed one
// shows, once.
func TestHandle_ReadFails_IsAnnouncedLater(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w *world){
		"announce and draw":          func(w *world) { w.move(moved); w.want("gm", 0) },
		"draw alone":                 func(w *world) { w.set(poll.Set("title", "Curse")); w.makeCardPending() },
		"draw what it shows already": func(w *world) { w.makeCardPending() },
		"what is taken back":         func(w *world) { w.want("gm", 0); w.move(moved); w.want("gm", 0); w.restore(); w.want("gm", 0) },
		"with somebody named, who votes": func(w *world) {
			w.write(func(tx store.Tx) error {
				return first(
					tx.Update(poll.Path(pollID), poll.Set("participantIds", []any{"gm", "ana", "eve"})),
					tx.Update(poll.AnnouncementPath(pollID), poll.NamedUpdates(pollID, []string{"eve", "gone"})...),
					voteOf("eve", "s1")(tx),
				)
			})
			w.cancel()
			w.want("ana", 0)
		},
		"to many": func(w *world) {
			members := []any{"gm", "ben", "cho"}
			for i := range 100 {
				members = append(members, fmt.Sprint("member-", i))
			}
			w.write(func(tx store.Tx) error {
				return first(
					tx.Update(poll.GroupPath(groupID), poll.Set("memberIds", members)),
					tx.Update(poll.Path(pollID), poll.Set("participantIds", []any{"gm", "ana", "eve"})),
					tx.Update(poll.AnnouncementPath(pollID), poll.NamedUpdates(pollID, []string{"eve"})...),
				)
			})
			w.cancel()
			w.want("gm", 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			undisturbed := announced(t)
			begin(undisturbed)
			undisturbed.toTheEnd()
			want := undisturbed.shown()
			for n := 1; ; n++ {
				w := announced(t)
				begin(w)
				p := &points.Points{}
				a, _ := w.around(&points.Reads{Store: w.documents, Points: p}, w.onDiscord.API)
				p.FailAt(n)
				run := runTask(a)
				if !p.Reached() {
					points.Struck(t, n-1, 2)
					return
				}
				if run.Outcome != runFailed {
					t.Errorf("with read %d failing the run ends as %+v", n, run)
				}
				w.clock.add(time.Hour)
				w.toTheEnd()
				if w.shown() != want {
					t.Errorf("with read %d failing it shows\n%s\nwant\n%s", n, w.shown(), want)
				}
			}
		})
	}
}

// A call that took what could not be read for what is not there would do too little.
func TestCalls_DocumentUnread_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, call := range map[string]func(documents store.Store, w *world) error{
		"mark all as read": func(documents store.Store, _ *world) error {
			_, err := notify.MarkAllRead(ctx, documents, "ana")
			return err
		},
		"remove old": func(documents store.Store, w *world) error {
			_, _, err := notify.RemoveOld(ctx, documents, w.clock.Now(), 10)
			return err
		},
		"list": func(documents store.Store, _ *world) error {
			_, _, err := notify.List(ctx, documents, "ana", store.Paging{Limit: 10})
			return err
		},
		"tell an owner": func(documents store.Store, w *world) error {
			in := &notify.InApp{Store: documents, Now: w.clock.Now}
			return notify.Owners{InApp: in, Occasion: func(ctx context.Context, id string) (string, error) {
				doc, err := documents.Get(ctx, store.Doc("linkedAccounts", id))
				return fmt.Sprint(doc.Exists()), err
			}}.NotifySyncError(ctx, "gm", "acc_1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			w.move(moved)
			w.want("gm", 0)
			w.mustEnd()
			p := &points.Points{}
			p.NoneUnread(t, 1, func() error { return call(&points.Reads{Store: w.documents, Points: p}, w) })
		})
	}
}
