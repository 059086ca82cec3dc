package main

import (
	"net"
	"net/url"

	"questscheduler/api"
	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/config"
	"questscheduler/internal/gcal"
)

// wireLinks makes what links Google accounts, and carries what becomes of them
// to calendars and polls.
func (s *server) wireLinks(owners owners) api.Linked {
	leaving := gcal.New(gcal.Options{Endpoint: s.config.GoogleEndpoint, Client: s.grants.Leaving, Now: s.now, Called: s.metrics.Called})
	s.links = &calendarsync.Links{
		Store: s.documents, Accounts: s.accounts, Grants: s.grants, Leaving: leaving,
		Watcher: s.watcher, Polls: s.polls(), Owners: owners, Now: s.now, Log: s.log,
	}
	s.consents = accounts.NewLinking(accounts.LinkingOptions{
		Accounts: s.accounts, ClientID: s.config.GoogleClientID, ClientSecret: s.config.GoogleClientSecret.Reveal(),
		AuthURL: s.oauthURL("/o/oauth2/v2/auth"), TokenURL: s.oauthURL("/token"),
		CallbackURL: s.publicURL() + api.PathCallback, Home: s.home(), ReturnOrigins: s.returnOrigins(),
		Transport: s.oauthCounted(),
	})
	return api.Linked{
		Accounts: s.accounts, Consents: s.consents, Calendars: s.google.Calendars, Follow: s.links.Follow, URL: s.publicURL(),
	}
}

// publicURL is where people's browsers reach this server: as set, else from
// this machine alone.
func (s *server) publicURL() string { return reachedAt(s.config) }

// reachedAt is where browsers reach a server with these settings.
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

// home is where people go who have linked an account: the web app's settings,
// or where there is no web app a page of ours.
func (s *server) home() string {
	if s.config.AppURL == "" || s.config.AppURL == s.config.PublicURL {
		return s.publicURL() + api.PathLinked
	}
	return s.config.AppURL + "/settings"
}

// returnOrigins are the origins whose pages people may go back to.
func (s *server) returnOrigins() []string {
	var origins []string
	for _, address := range append([]string{s.publicURL(), s.config.AppURL}, s.config.AllowedOrigins...) {
		if origin := originOf(address); origin != "" {
			origins = append(origins, origin)
		}
	}
	return origins
}

// originOf is the origin of an address; "" for none, and for "*".
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
