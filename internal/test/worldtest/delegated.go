package worldtest

import (
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
)

// Robot is the address of the service account of a world with Options.Delegated.
const Robot = "robot@quests.iam.gserviceaccount.com"

// delegation is the key of the service account; nil in a world without.
func (w *World) delegation() *accounts.Delegation {
	if !w.options.Delegated {
		return nil
	}
	account := google.ServiceAccount{Email: Robot, ClientID: "4711"}
	if !w.delegationEnded {
		account.Domains, account.Scopes = []string{"example.com", Domain}, []string{google.ScopeEvents}
	}
	key, err := w.Google.AddServiceAccount(account)
	w.must(err)
	delegation, err := accounts.ParseDelegation(key)
	w.must(err)
	return delegation
}

// EndDelegation has the administrator no longer let the service account act for anybody, or
// let it again.
func (w *World) EndDelegation(ended bool) {
	w.t.Helper()
	w.delegationEnded = ended
	w.delegation()
}

// Delegate has the service account act as a person of example.com from now on.
func (w *World) Delegate(email string) accounts.Account {
	w.t.Helper()
	account, err := w.Accounts.Delegate(w.ctx, email)
	w.must(err)
	w.follow(account.ID)
	return account
}

// Undelegate ends that; what follows is carried on by the drain where it fails here.
func (w *World) Undelegate(email string) {
	w.t.Helper()
	w.must(w.Accounts.Undelegate(w.ctx, email))
	w.follow(accounts.DelegatedID(email))
}

// FollowDelegated is Follow for the primary calendar of a person as whom the service account
// acts.
func (w *World) FollowDelegated(c *Consumer, email string, count int64) error {
	w.t.Helper()
	return w.followIn(c, accounts.DelegatedID(email), email, "", count)
}
