package accounts_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
)

// newDelegation is a world whose server has the key of the service account, with the people
// of these names.
func newDelegation(t *testing.T, names ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.useKey(t, w.serviceKey(t))
	for _, name := range names {
		if _, err := w.google.AddUser(googleUser(name)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// useKey starts the accounts again with another key of the service account; nil for none.
func (w *world) useKey(t *testing.T, key []byte) {
	t.Helper()
	w.key = nil
	if key != nil {
		var err error
		w.key, err = accounts.ParseDelegation(key)
		if err != nil {
			t.Fatal(err)
		}
	}
	w.use(t, "k1:"+rawKey('a'))
}

func (w *world) delegate(t *testing.T, email string) accounts.Account {
	t.Helper()
	account, err := w.accounts.Delegate(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

func TestDelegate_CreatesRevivesAndLeavesAnActiveOne(t *testing.T) {
	t.Parallel()
	w := newDelegation(t, "ana")
	account := w.delegate(t, " Ana@Example.test")
	want := accounts.Account{
		ID: accounts.DelegatedID("ana@example.test"), Provider: accounts.Google, Email: "ana@example.test",
		Scopes: []string{accounts.ScopeEvents},
		Status: accounts.Active, Kind: accounts.KindServiceAccount, Grant: account.Grant, Due: noon, CheckedAt: noon,
		CreatedAt: noon, UpdatedAt: noon,
	}
	if fmt.Sprint(account) != fmt.Sprint(want) || account.Primary() != "ana@example.test" {
		t.Errorf("created %+v", account)
	}
	if got := w.get(t, account.ID); fmt.Sprint(got) != fmt.Sprint(account) {
		t.Errorf("stored %+v", got)
	}
	settle := func(account accounts.Account) {
		t.Helper()
		if done, err := w.accounts.Settled(t.Context(), account); !done || err != nil {
			t.Errorf("settled: %t, %v", done, err)
		}
	}
	settle(account)
	w.advance(time.Hour)
	if again := w.delegate(t, "ana@example.test"); !again.Due.IsZero() || again.Grant != account.Grant || !again.UpdatedAt.Equal(noon) {
		t.Errorf("delegated twice: %+v", again)
	}
	for n, end := range []func() error{
		func() error { return w.accounts.Undelegate(t.Context(), "ANA@example.test") },
		func() error { _, err := w.accounts.MarkRevoked(t.Context(), account.ID, account.Grant+1); return err },
	} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
		ended := w.get(t, account.ID)
		if ended.Usable() == nil || ended.Due.IsZero() {
			t.Errorf("ended: %+v", ended)
		}
		settle(ended)
		revived := w.delegate(t, "ana@example.test")
		if revived.Status != accounts.Active || !revived.Due.Equal(revived.UpdatedAt) ||
			revived.Grant != account.Grant+int64(n)+1 || !revived.UnlinkedAt.IsZero() || !revived.CreatedAt.Equal(noon) {
			t.Errorf("revived: %+v", revived)
		}
		w.wantOK(t, account.ID)
	}
	for _, address := range []string{"", "ana", "@example.test", "ana@"} {
		if _, err := w.accounts.Delegate(t.Context(), address); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestDelegated_Account_IsInNobodysList(t *testing.T) {
	t.Parallel()
	w := newDelegation(t, "ana")
	id := w.delegate(t, "ana@example.test").ID
	for _, owner := range []string{"", "ana"} {
		if all, err := w.accounts.List(t.Context(), owner); len(all) != 0 || err != nil {
			t.Errorf("%q has %v, %v", owner, all, err)
		}
		if _, err := w.accounts.Owned(t.Context(), owner, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("owned by %q: %v", owner, err)
		}
		if _, err := w.accounts.Unlink(t.Context(), owner, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("unlinked by %q: %v", owner, err)
		}
		if _, err := w.accounts.Default(t.Context(), owner); fault.CodeOf(err) != accounts.CodeNotLinked {
			t.Errorf("default of %q: %v", owner, err)
		}
	}
	if all, err := accounts.OfPeople(t.Context(), w.store, []string{"", "ana"}); len(all) != 0 || err != nil {
		t.Errorf("of people: %v, %v", all, err)
	}
	t.Log("the same person may link the same Google account for polls")
	if linked := w.link(t, "ana", "ana"); linked.ID == id {
		t.Error("the person was given the delegated account")
	}
}

func TestByEmail_FindsActiveLinkedAccounts(t *testing.T) {
	t.Parallel()
	w := newDelegation(t)
	first := w.link(t, "gm", "gm").ID
	w.link(t, "ana", "ana")
	w.delegate(t, "gm@example.test")
	found := func(email string) []string {
		all, err := w.accounts.ByEmail(t.Context(), email)
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, account := range all {
			ids = append(ids, account.ID)
		}
		return ids
	}
	if got := found("GM@Example.test"); !slices.Equal(got, []string{first}) {
		t.Errorf("found %v, want %s", got, first)
	}
	w.unlink(t, "gm", first)
	if got := found("gm@example.test"); len(got) != 0 {
		t.Errorf("unlinked, found %v", got)
	}
}

func TestDelegated_Client_ActsAsThePerson(t *testing.T) {
	t.Parallel()
	w := newDelegation(t, "ana", "ben")
	ana, ben := w.delegate(t, "ana@example.test").ID, w.delegate(t, "ben@example.test").ID
	for range 2 {
		w.wantOK(t, ana)
		w.wantOK(t, ben)
	}
	w.wantCalls(t, "for two accounts", 2, 4)
	client, err := w.grants.Client(t.Context(), ana)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.calendarOf(t, client); got != "ana@example.test" {
		t.Errorf("the primary calendar is %s", got)
	}
	w.advance(time.Hour)
	w.wantOK(t, ana)
	w.wantCalls(t, "after an hour", 3, 6)
	w.plant(t, control.Rule{Match: "events.list", Status: 401, Times: 1})
	w.wantOK(t, ana)
	w.wantCalls(t, "after a refusal", 4, 8)

	t.Log("no token is stored, and a restart asks anew")
	if doc := w.document(t, store.Doc("accountSecrets", ana)); doc != nil {
		t.Errorf("stored: %v", doc)
	}
	for name, value := range w.document(t, accounts.Path(ana)) {
		if text := fmt.Sprint(value); strings.Contains(text, "PRIVATE") || strings.Contains(text, "ya29") {
			t.Errorf("%s is %s", name, text)
		}
	}
	w.use(t, "k1:"+rawKey('a'))
	w.wantOK(t, ana)
	w.wantCalls(t, "after a restart", 5, 9)
}

// calendarOf is whose primary calendar a client lists.
func (w *world) calendarOf(t *testing.T, client *http.Client) string {
	t.Helper()
	response, err := client.Get(w.url + "/calendar/v3/calendars/primary/events?fields=summary")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	err = joinClose(err, response.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), `"summary":`)
	return strings.Trim(strings.TrimSpace(after), "\"}\n ")
}

func TestDelegated_Refusal_HasItsKind(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		subject string
		damage  func(t *testing.T, w *world)
		kind    fault.Kind
		code    string
		status  accounts.Status
		says    []string
	}{
		"no delegation": {"ana@example.test", func(t *testing.T, w *world) {
			if err := w.google.RevokeDelegation(robot.Email); err != nil {
				t.Fatal(err)
			}
		}, fault.Provider, accounts.CodeDelegationRefused, accounts.Active, []string{"Admin console", "4711", accounts.ScopeEvents}},
		"another domain": {
			"ana@elsewhere.test", nil, fault.Provider, accounts.CodeDelegationRefused, accounts.Active, []string{"Admin console"},
		},
		"an older refusal": {
			"ana@example.test", planted(400, "access_denied"), fault.Provider, accounts.CodeDelegationRefused, accounts.Active,
			[]string{"Admin console"},
		},
		"unknown person": {
			"nobody@example.test", nil, fault.Revoked, accounts.CodeTokenExpired, accounts.Revoked, []string{"e-mail address"},
		},
		"another bad grant": {
			"ana@example.test", planted(400, "invalid_grant"), fault.Provider, accounts.CodeServiceAccountRefused, accounts.Active,
			[]string{"operator"},
		},
		"a deleted account": {
			"ana@example.test", planted(401, "deleted_client"), fault.Provider, accounts.CodeServiceAccountRefused, accounts.Active,
			[]string{"operator"},
		},
		"too many requests": {"ana@example.test", planted(429, "rate_limit_exceeded"), fault.RateLimited, "", accounts.Active, nil},
		"an outage":         {"ana@example.test", planted(503, ""), fault.Unavailable, "", accounts.Active, nil},
		"a bad request":     {"ana@example.test", planted(400, "invalid_scope"), fault.Provider, "", accounts.Active, nil},
		"no service account": {
			"ana@example.test", func(t *testing.T, w *world) { w.useKey(t, nil) }, fault.Provider, accounts.CodeNoServiceAccount,
			accounts.Active, []string{"operator"},
		},
		"a replaced key": {"ana@example.test", func(t *testing.T, w *world) {
			w.useKey(t, changed(t, w.serviceKey(t), "private_key_id", "older"))
		}, fault.Provider, accounts.CodeServiceAccountRefused, accounts.Active, []string{"operator"}},
		"a wrong clock": {"ana@example.test", func(_ *testing.T, w *world) {
			w.grants = accounts.NewGrants(accounts.GrantOptions{
				Accounts: w.accounts, Delegation: w.key, TokenURL: w.url + "/token", Now: func() time.Time { return w.now().Add(-time.Hour) },
			})
		}, fault.Provider, accounts.CodeServiceAccountRefused, accounts.Active, []string{"operator"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newDelegation(t, "ana")
			account := w.delegate(t, row.subject)
			if row.damage != nil {
				row.damage(t, w)
			}
			_, err := w.call(t.Context(), account.ID)
			if !fault.Is(err, row.kind) || fault.CodeOf(err) != row.code {
				t.Fatalf("got %v (%v, %q), want %v, %q", err, fault.KindOf(err), fault.CodeOf(err), row.kind, row.code)
			}
			message := messageOf(err)
			for _, says := range row.says {
				if !strings.Contains(message, says) {
					t.Errorf("it says %q, and not %q", message, says)
				}
			}
			if strings.Contains(message, "QS_") || strings.Contains(err.Error(), w.url) || strings.Contains(err.Error(), "planted") {
				t.Errorf("it says %q, and %v in the log", message, err)
			}
			if got := w.get(t, account.ID); got.Status != row.status {
				t.Errorf("the account is %s", got.Status)
			}
		})
	}
}

func planted(status int, reason string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		w.plant(t, control.Rule{Match: "oauth.token", Status: status, Reason: reason})
	}
}

func messageOf(err error) string {
	if said, ok := errors.AsType[*fault.Error](err); ok {
		return said.Message
	}
	return ""
}

func TestDelegated_DelegationTakenBackAndGranted_WorksAgain(t *testing.T) {
	t.Parallel()
	w := newDelegation(t, "ana")
	id := w.delegate(t, "ana@example.test").ID
	client, err := w.grants.Client(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.google.RevokeDelegation(robot.Email); err != nil {
		t.Fatal(err)
	}
	_, err = w.send(t.Context(), client)
	wantKind(t, err, fault.Provider, accounts.CodeDelegationRefused)
	if got := w.get(t, id); got.Status != accounts.Active {
		t.Errorf("the account is %s", got.Status)
	}
	w.serviceKey(t) // grants it again
	w.wantOK(t, id)
}

func TestDelegated_UnknownPerson_IsAskedForOnceAndRevivable(t *testing.T) {
	t.Parallel()
	w := newDelegation(t)
	id := w.delegate(t, "ana@example.test").ID
	for range 3 {
		_, err := w.call(t.Context(), id)
		wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
		if strings.Contains(messageOf(err), "Re-link") {
			t.Errorf("nobody can link it again: %v", err)
		}
	}
	w.wantCalls(t, "for three calls", 1, 0)
	if _, err := w.google.AddUser(googleUser("ana")); err != nil {
		t.Fatal(err)
	}
	w.delegate(t, "ana@example.test")
	w.wantOK(t, id)
}

func TestUndelegate_MakesNoRevokeCall_AndIsRemovedLater(t *testing.T) {
	t.Parallel()
	w := newDelegation(t, "ana")
	id := w.delegate(t, "ana@example.test").ID
	w.wantOK(t, id)
	for range 2 {
		if err := w.accounts.Undelegate(t.Context(), "ana@example.test"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.call(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeNotLinked)
	client, err := w.grants.Leaving(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := w.send(t.Context(), client); status != http.StatusOK || err != nil {
		t.Errorf("the last calls: %d, %v", status, err)
	}
	if err := w.grants.Revoke(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	account := w.get(t, id)
	if calls := w.google.Control().Calls()["oauth.revoke"]; calls != 0 || !account.LeavingUntil.IsZero() {
		t.Errorf("%d revocations, leaving until %v", calls, account.LeavingUntil)
	}
	if _, err := w.accounts.Settled(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	w.advance(accounts.Keep + time.Hour)
	if removed, err := accounts.RemoveUnlinked(t.Context(), w.store, w.now(), 10); removed != 1 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
	if err := w.accounts.Undelegate(t.Context(), "ana@example.test"); err != nil {
		t.Errorf("removed before: %v", err)
	}
	w.delegate(t, "ana@example.test")
	w.wantOK(t, id)
}

func TestCheckUntouched_OfDelegatedAccounts_FindsUnknownPeople(t *testing.T) {
	t.Parallel()
	w := newDelegation(t, "ana")
	w.delegate(t, "ana@example.test")
	gone := w.delegate(t, "nobody@example.test").ID
	w.delegate(t, "ana@elsewhere.test")
	w.advance(accounts.Untouched + time.Hour)
	got, err := w.grants.CheckUntouched(t.Context())
	if want := (accounts.Checked{Live: 1, Dead: 1, Failed: 1}); got != want || err != nil {
		t.Errorf("checked %+v, %v; want %+v", got, err, want)
	}
	if account := w.get(t, gone); account.Status != accounts.Revoked || account.Due.IsZero() {
		t.Errorf("%+v", account)
	}
}

func TestService_ActsAsTheServiceAccountItself(t *testing.T) {
	t.Parallel()
	w := newDelegation(t, "ana")
	whoami := func(client *http.Client) string {
		t.Helper()
		response, err := client.Get(w.url + "/v1/userinfo")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		err = joinClose(err, response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	service := func(scope string) *http.Client {
		t.Helper()
		client, err := w.grants.Service(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	client := service("openid")
	for range 3 {
		if got := whoami(service("openid")); got != `{"sub":"4711"}` {
			t.Errorf("Google answers %s", got)
		}
	}
	w.wantCalls(t, "for one scope", 1, 0)
	service(accounts.ScopeSheets)
	w.wantCalls(t, "for another scope", 2, 0)
	w.advance(time.Hour)
	if got := whoami(client); got != `{"sub":"4711"}` {
		t.Errorf("after an hour: %s", got)
	}
	w.plant(t, control.Rule{Match: "oauth.userinfo", Status: 401, Times: 1})
	whoami(client)
	w.wantCalls(t, "after an hour and a refusal", 4, 0)

	w.plant(t, control.Rule{Match: "oauth.token", Status: 503, Times: 1})
	_, err := w.grants.Service(t.Context(), accounts.ScopeFreeBusy)
	wantKind(t, err, fault.Unavailable, "")
	w.useKey(t, nil)
	_, err = w.grants.Service(t.Context(), accounts.ScopeSheets)
	wantKind(t, err, fault.Provider, accounts.CodeNoServiceAccount)
}
