package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"questscheduler/demo/sim/discord"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/test/process"
)

const (
	botToken  = "bot-of-the-kills"
	guildID   = "410000000000000001"
	channelID = "410000000000000002"
	roleID    = "410000000000000003"
)

// simulators are Google and Discord, which outlive the program. Google's pushes and the
// listings that it is asked for are remembered.
type simulators struct {
	google       *google.Server
	discord      *discord.Server
	googleURL    string
	discordURL   string
	servers      []*http.Server
	mu           sync.Mutex
	listings     map[string]int // how often each calendar was listed
	pushes       int            // how many were acknowledged
	watched      string         // the calendar whose next acknowledged push is answered by then
	acknowledged func()
}

func openSimulators() (*simulators, error) {
	s := &simulators{listings: map[string]int{}}
	var err error
	pushClient := &http.Client{Timeout: process.CallTimeout, Transport: pushing{s, http.DefaultTransport}}
	s.google, err = google.New(google.Options{PushClient: pushClient})
	if err != nil {
		return nil, err
	}
	s.discord, err = discord.New(discord.Options{Token: botToken})
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		s.discord.AddGuild(guildID, "The Party", discord.Role{ID: roleID, Name: "Adventurers", Mentionable: true}),
		s.discord.AddChannel(discord.Channel{ID: channelID, GuildID: guildID, Name: "sessions"}),
	)
	if err != nil {
		return nil, err
	}
	s.googleURL, err = s.serve(s.listed(s.google.Handler()))
	if err != nil {
		return nil, err
	}
	s.discordURL, err = s.serve(s.discord.Handler())
	if err != nil {
		return nil, err
	}
	return s, s.google.Start(context.Background())
}

// serve listens on a free port of this machine.
func (s *simulators) serve(handler http.Handler) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: process.CallTimeout}
	s.servers = append(s.servers, server)
	go func() { _ = server.Serve(listener) }() // its error is that it was closed
	return "http://" + listener.Addr().String(), nil
}

func (s *simulators) close() {
	for _, server := range s.servers {
		_ = server.Close() // nothing is kept
	}
	ctx, cancel := context.WithTimeout(context.Background(), process.CallTimeout)
	defer cancel()
	_ = s.google.Close(ctx) // likewise
	_ = s.discord.Close()
}

// listed counts the listings of each calendar, before each is answered.
func (s *simulators) listed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, of := strings.CutPrefix(r.URL.Path, "/calendar/v3/calendars/")
		if calendar, one := strings.CutSuffix(rest, "/events"); of && one && r.Method == http.MethodGet {
			s.mu.Lock()
			s.listings[calendar]++
			s.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// listingsOf is how often a calendar was listed.
func (s *simulators) listingsOf(calendar string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listings[calendar]
}

// onPush has then called once, as soon as the next push of a calendar is acknowledged, and
// before anybody learns of that. A nil one takes that back.
func (s *simulators) onPush(calendar string, then func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched, s.acknowledged = calendar, then
}

// pushing delivers pushes and sees which are acknowledged.
type pushing struct {
	of   *simulators
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (p pushing) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := p.next.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	p.of.mu.Lock()
	p.of.pushes++
	var then func()
	if strings.Contains(r.Header.Get("X-Goog-Resource-URI"), url.PathEscape(p.of.watched)) &&
		r.Header.Get("X-Goog-Resource-State") == "exists" {
		then, p.of.acknowledged = p.of.acknowledged, nil
	}
	p.of.mu.Unlock()
	if then != nil {
		then()
	}
	return response, nil
}

// times gives times that no two events share, a quarter of an hour apart, from the third day
// on; after four thousand it begins anew.
type times struct {
	mu    sync.Mutex
	first time.Time
	given int
}

const (
	apart     = 15 * time.Minute
	lasts     = 10 * time.Minute
	timesDays = 40
)

func (t *times) next() (start, end time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	start = t.first.Add(time.Duration(t.given%(timesDays*int(24*time.Hour/apart))) * apart)
	t.given++
	return start, start.Add(lasts)
}

// unique reports whether each time was given once.
func (t *times) unique() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.given <= timesDays*int(24*time.Hour/apart)
}
