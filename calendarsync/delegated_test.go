package calendarsync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/health"
	"questscheduler/rules"
)

// delegated is a world in which a consumer follows a person's calendar by the service
// account, and has read all of it.
func delegated(t *testing.T, c *worldtest.Consumer, person string) *worldtest.World {
	t.Helper()
	w := worldtest.New(t, worldtest.Options{Delegated: true, Consumers: []*worldtest.Consumer{c}, Mirrored: []string{"cho"}})
	w.Delegate(email(person))
	followDelegated(t, w, c, person)
	w.Run(2 * time.Minute)
	return w
}

func email(person string) string { return person + "@example.com" }

func followDelegated(t *testing.T, w *worldtest.World, c *worldtest.Consumer, person string) {
	t.Helper()
	if err := w.FollowDelegated(c, email(person), 1); err != nil {
		t.Fatal(err)
	}
}

// is fails where a delegated account is not settled, or has another status.
func is(t *testing.T, w *worldtest.World, person string, status accounts.Status) {
	t.Helper()
	account, err := w.Accounts.Get(t.Context(), accounts.DelegatedID(email(person)))
	if err != nil || account.Status != status || !account.Due.IsZero() {
		t.Errorf("the account is %s, due %v, %v\n%s", account.Status, account.Due, err, w.Log())
	}
}

// channels are the statuses of a delegated account's channels.
func channels(w *worldtest.World, person string) (statuses []string) {
	for _, watch := range w.Watches() {
		if f := store.Fields(watch.Data); f.String("accountId") == accounts.DelegatedID(email(person)) {
			statuses = append(statuses, f.String("status"))
		}
	}
	return statuses
}

// unnotified fails where anybody was notified, or a notice was written for nobody.
func unnotified(t *testing.T, w *worldtest.World) {
	t.Helper()
	for _, person := range worldtest.People {
		if notices := w.Notices(person.ID); len(notices) > 0 {
			t.Errorf("%s was notified: %v", person.ID, notices)
		}
	}
}

func TestDelegated_Calendar_IsFollowedWithPushes(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := delegated(t, c, "ben")
	same(t, "channels", channels(w, "ben"), []string{"active"})
	event := insert(w, "ben", 1)[0]
	w.Run(10 * time.Second)
	if !slices.ContainsFunc(c.Applied, func(id string) bool { return strings.HasSuffix(id, event) }) {
		t.Errorf("applied %v, and not %s\n%s", c.Applied, event, w.Log())
	}
	is(t, w, "ben", accounts.Active)
	unnotified(t, w)
}

func TestUndelegate_StopsChannelsAndRevokesNothing(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := delegated(t, c, "ben")
	w.Undelegate(email("ben"))
	is(t, w, "ben", accounts.Unlinked)
	equal(t, "channels stopped", w.Calls("channels.stop"), 1)
	equal(t, "channels left", len(channels(w, "ben")), 0)
	equal(t, "grants given back", w.Calls("oauth.revoke"), 0)
	unnotified(t, w)

	before := w.Calls("")
	insert(w, "ben", 1)
	w.Sweep()
	w.Run(time.Hour)
	equal(t, "further calls of Google", w.Calls("")-before, 0)
	is(t, w, "ben", accounts.Unlinked)

	t.Log("delegated again, its calendar is followed again")
	c.Applied = nil
	w.Delegate(email("ben"))
	w.Run(2 * time.Minute)
	is(t, w, "ben", accounts.Active)
	same(t, "channels", channels(w, "ben"), []string{"active"})
	equal(t, "events read", len(c.Applied), 1)
	unnotified(t, w)
}

func TestUndelegate_WhileGoogleIsDown_IsCarriedOnAfterARestart(t *testing.T) {
	t.Parallel()
	for _, down := range []string{"channels.stop", "oauth.token"} {
		t.Run(down, func(t *testing.T) {
			t.Parallel()
			w := delegated(t, &worldtest.Consumer{Name: "one"}, "ben")
			w.Run(2 * time.Hour) // the access token in memory has ended
			w.Refuse(down, 503, "", 0)
			w.Undelegate(email("ben"))
			account, err := w.Accounts.Get(t.Context(), accounts.DelegatedID(email("ben")))
			equal(t, "carried on at once", !account.Due.IsZero() || err != nil, true)
			w.Heal()
			w.Restart()
			w.Run(2 * time.Minute)
			is(t, w, "ben", accounts.Unlinked)
			equal(t, "channels left", len(channels(w, "ben")), 0)
			equal(t, "grants given back", w.Calls("oauth.revoke"), 0)
			unnotified(t, w)
		})
	}
}

func TestDelegation_TakenBack_IsRetriedAndRevokesNoAccount(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := delegated(t, c, "ben")
	if err := w.Google.RevokeDelegation(worldtest.Robot); err != nil {
		t.Fatal(err)
	}
	insert(w, "ben", 1)
	w.Sweep()
	w.Run(time.Hour)
	is(t, w, "ben", accounts.Active)
	equal(t, "applied", len(c.Applied), 0)
	unnotified(t, w)

	w.Restart() // which grants it again
	w.Sweep()
	w.Run(2 * time.Hour)
	is(t, w, "ben", accounts.Active)
	equal(t, "applied", len(c.Applied), 1)
	unnotified(t, w)
}

func TestDelegated_UnknownAddress_IsRevokedAndNotifiesNobody(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := worldtest.New(t, worldtest.Options{Delegated: true, Consumers: []*worldtest.Consumer{c}})
	w.Delegate(email("nobody"))
	if err := w.FollowDelegated(c, email("nobody"), 1); !fault.Is(err, fault.Revoked) {
		t.Errorf("followed: %v", err)
	}
	w.Run(2 * time.Minute)
	is(t, w, "nobody", accounts.Revoked)
	equal(t, "grants given back", w.Calls("oauth.revoke"), 0)
	unnotified(t, w)
	before := w.Calls("")
	w.Sweep()
	w.Run(6 * time.Hour)
	equal(t, "further calls of Google", w.Calls("")-before, 0)
	shown, _, err := w.Health.Page(t.Context(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := slices.IndexFunc(shown, func(a health.Account) bool { return a.Email == email("nobody") })
	if found < 0 || len(shown[found].AllTroubles()) == 0 ||
		!strings.Contains(shown[found].AllTroubles()[0].Message, "Correct it in the mappings") {
		t.Errorf("its health is %+v", shown)
	}
}

// A person whose calendar the service account follows may organise polls in it too.
func TestDelegated_CalendarOfAnOrganiser_DecidesNothingForPolls(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := delegated(t, c, "gm")
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	w.MoveEvent("gm", eventID, three)
	w.Run(2 * time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, three.Start)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule"})
	w.Unlink("gm")
	w.Run(time.Minute)
	lost(t, w, pollID, rules.CalendarUnlinked)
	w.DeleteEvent("gm", eventID)
	w.Run(2 * time.Minute)
	lost(t, w, pollID, rules.CalendarUnlinked)
	is(t, w, "gm", accounts.Active)
	equal(t, "events read as gm", len(c.Applied) > 0, true)
}
