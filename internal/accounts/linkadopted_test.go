package accounts_test

import (
	"context"
	"testing"

	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
)

// The web app did not say which Google account its token is of, and the list of its calendars did.
func TestLink_AnotherIdentity_LeavesAnAdoptedAccountWithoutEmail(t *testing.T) {
	t.Parallel()
	const primary = "GM@example.test"
	for name, before := range map[string]any{"listed first": nil, "listed before": primary} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			adopted := w.adopt(t, "gm", "gm", "")
			err := w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				return tx.Update(accounts.Path(adopted.ID), store.Set("primaryCalendarId", before), store.Set("calendarIds", []string{primary}))
			})
			if err == nil {
				err = w.accounts.RecordCalendars(t.Context(), adopted.ID, primary, []string{primary})
			}
			if err != nil {
				t.Fatal(err)
			}
			sealed := w.secret(t, adopted.ID)
			other := w.link(t, "gm", "other")
			got := w.get(t, adopted.ID)
			if other.ID == adopted.ID || got.Sub != "" || got.Email != "gm@example.test" || w.secret(t, adopted.ID) != sealed {
				t.Errorf("another Google account became %+v", got)
			}
			w.wantOK(t, adopted.ID)
			w.wantOK(t, other.ID)
			own := w.relink(t, "gm", "gm")
			if own.ID != adopted.ID || own.Sub != "sub-gm" || own.PrimaryCalendarID != primary {
				t.Errorf("its own became %+v", own)
			}
		})
	}
}

// Until its calendars are listed, it may be any. A calendar's id that is no address tells nothing.
func TestLink_OfAnAdoptedAccountOfUnknownAddress_AdoptsTheIdentity(t *testing.T) {
	t.Parallel()
	for name, primary := range map[string]string{"not listed": "", "without an address": "primary"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			adopted := w.adopt(t, "gm", "gm", "")
			if err := w.accounts.RecordCalendars(t.Context(), adopted.ID, primary, []string{"club@group.test"}); err != nil {
				t.Fatal(err)
			}
			if again := w.relink(t, "gm", "gm"); again.ID != adopted.ID || again.Email != "gm@example.test" || !again.Owns("club@group.test") {
				t.Errorf("linked again it is %+v", again)
			}
		})
	}
}

// A known address stays, whatever the primary calendar is called.
func TestRecordCalendars_OfAKnownAddress_LeavesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, account := range []accounts.Account{w.adopt(t, "gm", "gm", "gm@example.test"), w.link(t, "ana", "ana")} {
		if err := w.accounts.RecordCalendars(t.Context(), account.ID, "older@example.test", nil); err != nil {
			t.Fatal(err)
		}
		if got := w.get(t, account.ID); got.Email != account.Email || got.Primary() != "older@example.test" {
			t.Errorf("recorded %+v", got)
		}
	}
}
