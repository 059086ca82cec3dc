package notify_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/notify"
)

// ring writes notifications for ana, oldest first, and gives their ids.
func ring(w *world, n int) []string {
	w.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("n%03d", i)
		w.write(func(tx store.Tx) error {
			return tx.Create(notify.NotificationPath("ana", ids[i]), map[string]any{
				"type": "VOTE_REMINDER", "title": "Vote", "body": ids[i], "read": false, "dismissed": false,
				"createdAt": w.clock.Now().Add(time.Duration(i) * time.Second), "foreign": "kept",
			})
		})
	}
	return ids
}

func TestList_AllPages_AreNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := ring(w, 7)
	w.write(func(tx store.Tx) error {
		return tx.Update(notify.NotificationPath("ana", ids[3]), store.Update{Path: store.Field("dismissed"), Value: true})
	})
	var got []string
	var after *store.Cursor
	for {
		page, next, err := notify.List(context.Background(), w.store, "ana", store.Paging{Limit: 2, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range page {
			got = append(got, n.ID)
		}
		after = next
		if next == nil {
			break
		}
	}
	wantTexts(t, "ids", got, ids[6], ids[5], ids[4], ids[2], ids[1], ids[0])
	wantTexts(t, "another person's", w.bell("ben"))
}

func TestList_Document_IsReturnedWhole(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.cancel()
	ref := w.want("gm", 0)
	w.mustEnd()
	list, _, err := notify.List(context.Background(), w.store, "ben", store.Paging{Limit: 10})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	n := list[0]
	if n.Actor == nil || *n.Actor != (notify.Actor{UserID: "gm", Email: "gm@example.com", DisplayName: "The GM"}) {
		t.Errorf("actor %+v", n.Actor)
	}
	n.Actor = nil
	if want := (notify.Notification{
		ID: "dedupe:" + ref, Type: "SESSION_CANCELLED",
		Title: "Session cancelled", Body: cancelledBody, ActionURL: appURL + "/scheduler/" + pollID,
		Resource:  notify.Resource{Type: "poll", ID: pollID, Title: "Curse of Strahd"},
		CreatedAt: w.clock.Now(),
	}); n != want {
		t.Errorf("got %+v\nwant %+v", n, want)
	}
}

func TestMarkRead_OwnNotification_IsMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := ring(w, 2)
	for range 2 {
		if err := notify.MarkRead(context.Background(), w.store, "ana", ids[0]); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []bool{true, false} {
		doc, err := w.store.Get(context.Background(), notify.NotificationPath("ana", ids[i]))
		if err != nil || doc.Data["read"] != want || doc.Data["foreign"] != "kept" {
			t.Errorf("%s: %v, %v", ids[i], doc.Data, err)
		}
	}
	for _, row := range [][2]string{{"ben", ids[1]}, {"ana", "nothing"}, {"ana", ""}, {"ana", "a/b/c"}, {"ana", ".."}} {
		if err := notify.MarkRead(context.Background(), w.store, row[0], row[1]); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v: %v", row, err)
		}
	}
}

func TestMarkAllRead_ManyNotifications_AreMarkedInSteps(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 100, 250} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ring(w, n)
			if marked, err := notify.MarkAllRead(context.Background(), w.store, "ana"); marked != n || err != nil {
				t.Errorf("marked %d, %v", marked, err)
			}
			list, _, err := notify.List(context.Background(), w.store, "ana", store.Paging{Limit: 0})
			if err != nil || len(list) != n {
				t.Fatalf("%d, %v", len(list), err)
			}
			for _, one := range list {
				if !one.Read {
					t.Errorf("%s is unread", one.ID)
				}
			}
			if marked, err := notify.MarkAllRead(context.Background(), w.store, "ana"); marked != 0 || err != nil {
				t.Errorf("marked %d the second time, %v", marked, err)
			}
		})
	}
}
