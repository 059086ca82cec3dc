package notify

import (
	"context"
	"testing"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

// owners notify at now; the grant is the account's second.
func owners(t *testing.T, now time.Time) (Owners, store.Store) {
	t.Helper()
	documents, err := memorystore.Open(Queries)
	if err != nil {
		t.Fatal(err)
	}
	return Owners{
		InApp:    &InApp{Store: documents, Now: func() time.Time { return now }},
		Occasion: func(context.Context, string) (string, error) { return "2", nil },
	}, documents
}

// types are the types and titles of a person's notifications, newest first.
func types(t *testing.T, documents store.Store) (types []string) {
	t.Helper()
	list, _, err := List(t.Context(), documents, "gm", store.Paging{Limit: 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, notification := range list {
		types = append(types, notification.Type+" "+notification.Title)
	}
	return types
}

// An unlinked account and a revoked grant are two problems, each notified once; held
// cancellations are the same in any order.
func TestOwners_SameProblemTwice_IsOneNotification(t *testing.T) {
	t.Parallel()
	o, documents := owners(t, time.Now())
	for range 2 {
		for _, err := range []error{
			o.NotifySyncError(t.Context(), "gm", "acc_1"), o.NotifyUnlinked(t.Context(), "gm", "acc_1"),
			o.NotifyHeld(t.Context(), "gm", "key", []string{"a", "b"}), o.NotifyHeld(t.Context(), "gm", "key", []string{"b", "a"}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := types(t, documents); len(got) != 3 {
		t.Errorf("notifications %q", got)
	}
}

// A notification for an owner keeps them from being notified again, so it stays.
func TestRemoveOld_NoticesForOwners_Stay(t *testing.T) {
	t.Parallel()
	now := time.Now()
	o, documents := owners(t, now)
	if err := o.NotifyHeld(t.Context(), "gm", "key", []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if err := o.NotifySyncError(t.Context(), "gm", "acc_1"); err != nil {
		t.Fatal(err)
	}
	removed, more, err := RemoveOld(t.Context(), documents, now.Add(2*Kept), 10)
	if removed != 0 || more || err != nil || len(types(t, documents)) != 2 {
		t.Errorf("removed %d, %t, %v", removed, more, err)
	}
}

func TestOwners_ANotification_NamesItsCalendar(t *testing.T) {
	t.Parallel()
	o, documents := owners(t, time.Now())
	o.InApp.AppURL = "https://app.example/"
	if err := o.NotifyHeld(t.Context(), "gm", "key", []string{"a"}); err != nil {
		t.Fatal(err)
	}
	list, _, err := List(t.Context(), documents, "gm", store.Paging{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d notifications, %v", len(list), err)
	}
	about := Resource{Type: "calendar", ID: "key", Title: spoken.Owners.Resource}
	if got := list[0]; got.Resource != about || got.ActionURL != "https://app.example/settings" || got.Body == "" {
		t.Errorf("notification %+v", got)
	}
}
