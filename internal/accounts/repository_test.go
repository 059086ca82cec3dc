package accounts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
)

func TestLink_MakesAnActiveAccountWithASealedToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	who := accounts.Identity{Provider: accounts.Google, Sub: "s1", Email: "GM@Example.test"}
	account, err := w.accounts.Link(t.Context(), "gm", who, "1//refresh-secret", append(scopes, "email"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(account.ID, "acc_") || account.OwnerID != "gm" || account.Email != "gm@example.test" ||
		account.Status != accounts.Active || account.Kind != accounts.KindOAuth || !account.CreatedAt.Equal(noon) ||
		!account.Granted(accounts.ScopeCalendarList) || len(account.Scopes) != len(scopes) {
		t.Errorf("got %+v", account)
	}
	got := w.get(t, account.ID)
	if !slices.Equal(got.Scopes, account.Scopes) || got.Sub != "s1" || got.Provider != accounts.Google || got.Grant != 1 {
		t.Errorf("stored: %+v", got)
	}
	if sealed := w.secret(t, account.ID); !strings.HasPrefix(sealed, "v1.k1.") || strings.Contains(sealed, "secret") {
		t.Errorf("the token is stored as %q", sealed)
	}
}

func TestLink_TheSameIdentityAgainIsTheSameAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.link(t, "gm", "gm")
	if err := w.accounts.RecordCalendars(t.Context(), first.ID, "gm@example.test", []string{"team@group.test"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.accounts.MarkRevoked(t.Context(), first.ID, first.Grant); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Hour)
	second := w.relink(t, "gm", "gm")
	if second.ID != first.ID || second.Status != accounts.Active || second.Grant != 2 ||
		!second.CreatedAt.Equal(first.CreatedAt) || !second.UpdatedAt.After(first.UpdatedAt) {
		t.Errorf("got %+v after %+v", second, first)
	}
	if list, err := w.accounts.List(t.Context(), "gm"); err != nil || len(list) != 1 || !list[0].Owns("team@group.test") {
		t.Errorf("listed: %+v, %v", list, err)
	}
}

func TestLink_RefusesAndWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linked := w.link(t, "gm", "gm")
	before := w.secret(t, linked.ID)
	for name, tc := range map[string]struct {
		owner  string
		who    accounts.Identity
		token  string
		scopes []string
		kind   fault.Kind
		code   string
	}{
		"an account of another person":  {"ana", identity("gm"), "t", scopes, fault.Conflict, accounts.CodeLinkedElsewhere},
		"a grant without the calendar":  {"gm", identity("gm"), "t", []string{"openid", "email"}, fault.Invalid, accounts.CodeScopesInsufficient},
		"a new account without a token": {"gm", identity("other"), "", scopes, fault.Invalid, ""},
		"nobody":                        {"", identity("gm"), "t", scopes, fault.Invalid, ""},
		"an identity without a sub":     {"gm", accounts.Identity{Provider: accounts.Google}, "t", scopes, fault.Invalid, ""},
	} {
		_, err := w.accounts.Link(t.Context(), tc.owner, tc.who, tc.token, tc.scopes)
		t.Run(name, func(t *testing.T) { wantKind(t, err, tc.kind, tc.code) })
	}
	if got := w.get(t, linked.ID); got.OwnerID != "gm" || got.Grant != 1 || w.secret(t, linked.ID) != before {
		t.Errorf("the account changed: %+v", got)
	}
	for _, owner := range []string{"ana", "gm"} {
		list, err := w.accounts.List(t.Context(), owner)
		if err != nil || len(list) != map[string]int{"gm": 1}[owner] {
			t.Errorf("%s has %+v, %v", owner, list, err)
		}
	}
}

func TestLink_AnAnswerWithoutATokenKeepsTheOneThereIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linked := w.link(t, "gm", "gm")
	before := w.secret(t, linked.ID)
	again, err := w.accounts.Link(t.Context(), "gm", identity("gm"), "", []string{accounts.ScopeCalendar})
	if err != nil || again.Grant != linked.Grant || again.Granted(accounts.ScopeEvents) || w.secret(t, linked.ID) != before {
		t.Errorf("got %+v, %v", again, err)
	}
	if _, err := w.accounts.MarkRevoked(t.Context(), linked.ID, linked.Grant); err != nil {
		t.Fatal(err)
	}
	_, err = w.accounts.Link(t.Context(), "gm", identity("gm"), "", scopes)
	wantKind(t, err, fault.Invalid, "")
}

func TestLink_WhatAnotherPersonUnlinkedIsFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.link(t, "gm", "shared")
	w.unlink(t, "gm", old.ID)
	fresh := w.relink(t, "ana", "shared")
	if fresh.ID == old.ID || fresh.OwnerID != "ana" {
		t.Errorf("got %+v", fresh)
	}
	if got := w.get(t, old.ID); got.Status != accounts.Unlinked || got.OwnerID != "gm" {
		t.Errorf("the old account: %+v", got)
	}
	_, err := w.accounts.Link(t.Context(), "gm", identity("shared"), "t", scopes)
	wantKind(t, err, fault.Conflict, accounts.CodeLinkedElsewhere)
}

func TestOwned_AnotherPersonsAccountIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linked := w.link(t, "gm", "gm")
	if got, err := w.accounts.Owned(t.Context(), "gm", linked.ID); err != nil || got.ID != linked.ID {
		t.Errorf("the owner gets %+v, %v", got, err)
	}
	for _, tc := range []struct{ owner, id string }{{"ana", linked.ID}, {"gm", "acc_none"}, {"gm", "a/b"}, {"gm", ""}} {
		_, err := w.accounts.Owned(t.Context(), tc.owner, tc.id)
		wantKind(t, err, fault.NotFound, "")
	}
}

func TestChoose_FollowsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.link(t, "gm", "first")
	w.advance(time.Second)
	second := w.link(t, "gm", "second")
	other := w.link(t, "ana", "other")
	if err := w.accounts.RecordCalendars(t.Context(), second.ID, "", []string{"team@group.test", "second@example.test"}); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		account, calendar         string
		wantAccount, wantCalendar string
	}{
		"nothing: the first linked":              {"", "", first.ID, "first@example.test"},
		"the primary calendar":                   {"", "primary", first.ID, "first@example.test"},
		"an account: its primary calendar":       {second.ID, "", second.ID, "second@example.test"},
		"an account and a calendar":              {first.ID, "team@group.test", first.ID, "team@group.test"},
		"a calendar: the account that owns it":   {"", "team@group.test", second.ID, "team@group.test"},
		"a primary calendar by its address":      {"", "Second@Example.test", second.ID, "second@example.test"},
		"a calendar that nobody is known to own": {"", "unknown@group.test", first.ID, "unknown@group.test"},
	} {
		account, calendar, err := w.accounts.Choose(t.Context(), "gm", tc.account, tc.calendar)
		if err != nil || account != tc.wantAccount || calendar != tc.wantCalendar {
			t.Errorf("%s: got %s, %s, %v", name, account, calendar, err)
		}
	}
	_, _, err := w.accounts.Choose(t.Context(), "gm", other.ID, "")
	wantKind(t, err, fault.NotFound, "")
	_, _, err = w.accounts.Choose(t.Context(), "ben", "", "")
	wantKind(t, err, fault.Revoked, accounts.CodeNotLinked)
}

func TestChoose_ARevokedDefaultIsNotPassedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.link(t, "gm", "first")
	w.advance(time.Second)
	second := w.link(t, "gm", "second")
	if changed, err := w.accounts.MarkRevoked(t.Context(), first.ID, first.Grant); err != nil || !changed {
		t.Fatal(changed, err)
	}
	_, _, err := w.accounts.Choose(t.Context(), "gm", "", "")
	wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)

	w.unlink(t, "gm", first.ID)
	if account, _, err := w.accounts.Choose(t.Context(), "gm", "", ""); err != nil || account != second.ID {
		t.Errorf("after unlinking the first: %s, %v", account, err)
	}
	_, _, err = w.accounts.Choose(t.Context(), "gm", first.ID, "")
	wantKind(t, err, fault.Revoked, accounts.CodeNotLinked)
}

func TestDefaultAndOwns_KnowLinkedAccountsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.accounts.Default(t.Context(), "gm"); fault.CodeOf(err) != accounts.CodeNotLinked {
		t.Errorf("without an account: %v", err)
	}
	linked := w.link(t, "gm", "gm")
	if got, err := w.accounts.Default(t.Context(), "gm"); err != nil || got.ID != linked.ID {
		t.Errorf("default: %+v, %v", got, err)
	}
	if err := w.accounts.RecordCalendars(t.Context(), linked.ID, "real-primary", []string{"b", "a", "b"}); err != nil {
		t.Fatal(err)
	}
	for calendar, want := range map[string]bool{"a": true, "b": true, "real-primary": true, "GM@example.test": true, "c": false} {
		account, err := w.accounts.Get(t.Context(), linked.ID)
		if err != nil || account.Owns(calendar) != want {
			t.Errorf("%s: %v, %v", calendar, account.Owns(calendar), err)
		}
	}
	w.unlink(t, "gm", linked.ID)
	_, _, err := w.accounts.Choose(t.Context(), "gm", "", "a")
	wantKind(t, err, fault.Revoked, accounts.CodeNotLinked)
}

func TestRecordCalendars_WritesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linked := w.link(t, "gm", "gm")
	for i, step := range []struct {
		primary string
		ids     []string
		written bool
	}{
		{"p", []string{"b", "a"}, true}, {"p", []string{"a", "b", "a"}, false}, {"", []string{"a", "b"}, false}, {"", []string{"a"}, true},
	} {
		w.advance(time.Second)
		if err := w.accounts.RecordCalendars(t.Context(), linked.ID, step.primary, step.ids); err != nil {
			t.Fatal(err)
		}
		got := w.get(t, linked.ID)
		if written := got.UpdatedAt.Equal(w.now()); written != step.written || got.Primary() != "p" {
			t.Errorf("step %d: written %v, %+v", i, written, got)
		}
	}
	if err := w.accounts.RecordCalendars(t.Context(), "acc_none", "p", nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("of no account: %v", err)
	}
}

// What follows the primary calendar has to follow it under its other id, as after a link.
func TestRecordCalendars_ThePrimaryUnderAnotherID_IsCarriedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linked := w.link(t, "gm", "gm")
	revoked := w.link(t, "gm", "revoked")
	adopted := w.adopt(t, "ana", "ana", "")
	if _, err := w.accounts.MarkRevoked(t.Context(), revoked.ID, revoked.Grant); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		id, primary string
		due         bool
	}{
		{linked.ID, "gm@example.test", false}, // which it was taken for
		{linked.ID, "older@example.test", true}, {linked.ID, "older@example.test", false}, {linked.ID, "", false},
		{linked.ID, "gm@example.test", true},
		{revoked.ID, "older@example.test", false}, // carried on once it is linked again
		{adopted.ID, "ana@example.test", true}, {adopted.ID, "ana@example.test", false},
	} {
		before := w.get(t, step.id)
		if done, err := w.accounts.Settled(t.Context(), before); !done || err != nil {
			t.Fatalf("settled: %t, %v", done, err)
		}
		w.advance(time.Second)
		if err := w.accounts.RecordCalendars(t.Context(), step.id, step.primary, []string{step.primary}); err != nil {
			t.Fatal(err)
		}
		if got := w.get(t, step.id); got.Due.Equal(w.now()) != step.due || !step.due && !got.Due.IsZero() {
			t.Errorf("%s recorded as %q is due at %v", step.id, step.primary, got.Due)
		}
		if done, err := w.accounts.Settled(t.Context(), before); step.due && done || err != nil {
			t.Errorf("%s: what was done for the earlier id of %q settled it: %t, %v", step.id, step.primary, done, err)
		}
	}
}

func TestMarkRevoked_IsNewsOnceAndForThatGrantAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linked := w.link(t, "gm", "gm")
	for i, want := range []bool{true, false} {
		if changed, err := w.accounts.MarkRevoked(t.Context(), linked.ID, 1); changed != want || err != nil {
			t.Errorf("time %d: %v, %v", i, changed, err)
		}
	}
	w.relink(t, "gm", "gm")
	if changed, err := w.accounts.MarkRevoked(t.Context(), linked.ID, 1); changed || err != nil {
		t.Errorf("the old grant's refusal: %v, %v", changed, err)
	}
	if got := w.get(t, linked.ID); got.Status != accounts.Active {
		t.Errorf("the account is %s", got.Status)
	}
	if _, err := w.accounts.MarkRevoked(t.Context(), "acc_none", 1); !fault.Is(err, fault.NotFound) {
		t.Errorf("of no account: %v", err)
	}
}
