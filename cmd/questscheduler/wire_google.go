package main

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"questscheduler/api"
	"questscheduler/availability"
	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/config"
	"questscheduler/internal/gcal"
)

// googleAccess is the calendar client with the linked accounts that it acts for.
type googleAccess struct {
	keys     seal.Keys
	accounts *accounts.Repository
	grants   *accounts.Grants
	// client has the budget of all calls of this process, for all accounts; none with a
	// simulator.
	client    *gcal.Client
	elsewhere *calendarsync.MoveFinder
	lookup    *calendarsync.Lookup
}

func (s *server) newGoogle() (googleAccess, error) {
	keys, err := seal.ParseKeys(s.config.EncKeys.Reveal())
	if err != nil {
		return googleAccess{}, fmt.Errorf("QS_ENC_KEYS: %w", err)
	}
	linked := accounts.New(accounts.Options{Store: s.documents, Keys: keys, Now: s.now, NewID: s.newID})
	delegation, err := newDelegation(s.config)
	if err != nil {
		return googleAccess{}, err
	}
	grants := accounts.NewGrants(accounts.GrantOptions{
		Delegation: delegation,
		Accounts:   linked, ClientID: s.config.GoogleClientID, ClientSecret: s.config.GoogleClientSecret.Reveal(),
		TokenURL: s.oauthURL("/token"), RevokeURL: s.oauthURL("/revoke"), Now: s.now, Transport: s.oauthTransport(),
	})
	var budget *gcal.Budget
	if s.config.GoogleEndpoint == "" { // a simulator has no quotas, or its own
		budget = gcal.NewBudget(gcal.BudgetOptions{Now: s.now, Wait: wait})
	}
	client := gcal.New(gcal.Options{
		Endpoint: s.config.GoogleEndpoint, Client: grants.Client, Refused: grants.Refused, Budget: budget, Now: s.now, Called: s.metrics.Called,
	})
	lists := calendarsync.Calendars{Accounts: linked, List: client.Calendars}
	return googleAccess{
		keys, linked, grants, client,
		&calendarsync.MoveFinder{Store: s.documents, Accounts: linked, Google: client, Calendars: lists, Now: s.now},
		&calendarsync.Lookup{Accounts: linked, Calendars: lists, Now: s.now},
	}, nil
}

// newLinks builds what carries a linked, revoked or unlinked account to its
// calendars and polls.
func (s *server) newLinks(
	google googleAccess, watcher *calendarsync.Watcher, polls calendarsync.Polls, owners owners,
	listeners []calendarsync.AccountListener,
) *calendarsync.Links {
	return &calendarsync.Links{
		Store: s.documents, Accounts: google.accounts, Grants: google.grants, Leaving: google.client.As(google.grants.Leaving),
		Watcher: watcher, Listeners: listeners, Polls: polls, Owners: owners, Now: s.now, Log: s.log,
	}
}

// newAvailability builds what says when people are busy.
func (s *server) newAvailability(google googleAccess) *availability.Service {
	return &availability.Service{
		Store: s.documents, Google: google.client, Now: s.now, Recent: s.config.FallbackEvery + time.Hour,
		MembersListed: s.config.GroupMembers == config.MembersListed,
	}
}

func (s *server) newConsents(google googleAccess) *accounts.Linking {
	browsers := reachedAt(s.config)
	home := s.config.AppURL + "/settings"
	if s.config.AppURL == "" || s.config.AppURL == s.config.PublicURL { // there is no web app
		home = browsers + api.PathLinked
	}
	return accounts.NewLinking(accounts.LinkingOptions{
		Accounts: google.accounts, ClientID: s.config.GoogleClientID, ClientSecret: s.config.GoogleClientSecret.Reveal(),
		AuthURL: s.oauthURL("/o/oauth2/v2/auth"), TokenURL: s.oauthURL("/token"), CallbackURL: browsers + api.PathCallback,
		Home: home, ReturnOrigins: origins(append([]string{browsers, s.config.AppURL}, s.config.AllowedOrigins...)),
		Transport: s.oauthTransport(),
	})
}

func (s *server) oauthURL(path string) string { return oauthURL(s.config, path) }

// oauthURL is an OAuth endpoint of a simulator; "" stands for Google's own.
func oauthURL(cfg config.Config, path string) string {
	if cfg.GoogleEndpoint == "" {
		return ""
	}
	return cfg.GoogleEndpoint + path
}

// oauthTransport counts calls to Google's OAuth endpoints; the calendar client
// counts its own.
func (s *server) oauthTransport() http.RoundTripper {
	return s.metrics.OAuth(s.outbound, cmp.Or(s.oauthURL("/token"), accounts.GoogleTokenURL))
}

// reachedAt is where browsers reach a server with these settings: QS_PUBLIC_URL, or
// without it this machine.
func reachedAt(cfg config.Config) string {
	if cfg.PublicURL != "" {
		return cfg.PublicURL
	}
	_, port, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return "" // the settings were checked
	}
	return "http://localhost:" + port
}

// origins are the origins of addresses as browsers send them, in small letters and also without the port
// that the scheme has anyway. "*" stays; other addresses without a host have none.
func origins(addresses []string) (found []string) {
	for _, address := range addresses {
		u, err := url.Parse(address)
		switch {
		case address == "*":
			found = append(found, address)
		case err == nil && u.Host != "":
			origin := u.Scheme + "://" + strings.ToLower(u.Host)
			port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
			found = append(found, origin, strings.TrimSuffix(origin, port))
		}
	}
	return slices.Compact(found)
}
