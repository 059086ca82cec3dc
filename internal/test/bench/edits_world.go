package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
)

// editing is finalised polls with their events, and what is said about them.
type editing struct {
	*outside
	calendars  int
	sessions   []*session
	syncTokens []string     // by calendar: what is listed by them are the moves
	person     *http.Client // calls Google without a network

	mu    sync.Mutex
	posts map[string][]time.Time // when messages were answered, by the title of their poll
}

// session is a finalised poll with its event.
type session struct {
	owner              int
	title, poll, event string
	start              time.Time
	moved              time.Time // when its event was moved there
}

const (
	seedersAtOnce = 8
	askEvery      = 20 * time.Millisecond
	// quietFor is how long nobody calls Google or Discord where all is done.
	quietFor = 2 * time.Second
)

// begin has each person finalise polls, one after the other, and waits until all is said and done
// about them.
func (e *editing) begin(ctx context.Context, count int) error {
	e.person = &http.Client{Transport: control.Transport(e.google.Handler())}
	first := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 10)
	e.sessions = make([]*session, count)
	var owners errgroup.Group
	owners.SetLimit(seedersAtOnce)
	for owner := range e.calendars {
		owners.Go(func() error {
			group, err := e.makeGroup(ctx, owner)
			for i := owner; i < count && err == nil; i += e.calendars {
				e.sessions[i] = &session{
					owner: owner, title: fmt.Sprintf("Session %06d", i), start: first.AddDate(0, 0, i/e.calendars),
				}
				err = e.finalise(ctx, group, e.sessions[i])
			}
			return err
		})
	}
	if err := owners.Wait(); err != nil {
		return err
	}
	if err := e.quiet(ctx); err != nil {
		return err
	}
	if watched := e.google.Control().Calls()["events.watch"]; watched < e.calendars {
		return fmt.Errorf("%d calendars have %d channels", e.calendars, watched)
	}
	e.mu.Lock()
	e.posts = map[string][]time.Time{}
	e.mu.Unlock()
	return e.listAll(ctx)
}

// makeGroup makes a person's group with a channel of its own.
func (o *outside) makeGroup(ctx context.Context, owner int, members ...int) (id string, err error) {
	if err := o.discord.AddChannel(discord.Channel{ID: channelID(owner), GuildID: guildID, Name: uid(owner)}); err != nil {
		return "", err
	}
	names := []string{uid(owner)}
	for _, n := range members {
		names = append(names, uid(n))
	}
	var made struct{ ID string }
	body := map[string]any{"name": "Group of " + uid(owner), "member_ids": names}
	if err := o.call(ctx, asked{owner, http.MethodPost, "/v1/groups", body}, &made); err != nil {
		return "", err
	}
	path := "/v1/groups/" + made.ID
	for _, n := range members {
		if err := o.call(ctx, asked{n, http.MethodPost, path + "/accept-invite", nil}, nil); err != nil {
			return "", err
		}
	}
	channel := map[string]any{"discord": map[string]any{"guild_id": guildID, "channel_id": channelID(owner)}}
	return made.ID, o.call(ctx, asked{byOperator, http.MethodPatch, path, channel}, nil)
}

// finalise makes a session's poll and finalises it with an event.
func (e *editing) finalise(ctx context.Context, group string, s *session) error {
	var made struct {
		ID    string
		Slots []struct{ ID string }
	}
	slot := map[string]any{"start": s.start, "end": s.start.Add(time.Hour)}
	body := map[string]any{"title": s.title, "timezone": "UTC", "group_id": group, "slots": []any{slot}}
	if err := e.call(ctx, asked{s.owner, http.MethodPost, "/v1/polls", body}, &made); err != nil {
		return err
	}
	s.poll = "/v1/polls/" + made.ID
	var finalised struct {
		Event string `json:"google_event_id"`
	}
	body = map[string]any{"slot_id": made.Slots[0].ID, "create_event": true}
	err := e.call(ctx, asked{s.owner, http.MethodPost, s.poll + "/finalize", body}, &finalised)
	s.event = finalised.Event
	if err == nil && s.event == "" {
		err = fmt.Errorf("%q was finalised without an event", s.title)
	}
	return err
}

// quiet waits until nobody has called Google or Discord for a while.
func (o *outside) quiet(ctx context.Context) error {
	calls := func() map[string]int {
		all := o.google.Control().Calls()
		for name, n := range o.discord.Control().Calls() {
			all["discord."+name] += n
		}
		return all
	}
	for last := calls(); ; {
		select {
		case <-time.After(quietFor):
		case <-ctx.Done():
			return ctx.Err()
		}
		now := calls()
		if maps.Equal(last, now) && len(o.google.PendingPushes()) == 0 {
			return nil
		}
		last = now
	}
}

var titled = regexp.MustCompile(`Session \d{6}`)

// noted notes when messages are posted.
func (e *editing) noted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		said, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(said))
		next.ServeHTTP(w, r)
		e.mu.Lock()
		defer e.mu.Unlock()
		title := string(titled.Find(said))
		if e.posts != nil {
			e.posts[title] = append(e.posts[title], time.Now())
		}
	})
}

func (e *editing) messagesOf(s *session) []time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.posts[s.title])
}

// journalled is when a poll was moved to where its event is.
func (e *editing) journalled(ctx context.Context, s *session) (at time.Time, err error) {
	var poll struct {
		Winning struct{ Start time.Time } `json:"winning_slot"`
	}
	var journal struct {
		Entries []struct {
			At       time.Time
			Decision string
		}
	}
	err = errors.Join(
		e.call(ctx, asked{s.owner, http.MethodGet, s.poll, nil}, &poll),
		e.call(ctx, asked{s.owner, http.MethodGet, s.poll + "/journal", nil}, &journal))
	if err != nil {
		return at, err
	}
	for _, entry := range journal.Entries {
		if entry.Decision == "reschedule" && entry.At.After(at) {
			at = entry.At
		}
	}
	if !poll.Winning.Start.Equal(s.start) || at.IsZero() {
		err = fmt.Errorf("%q is at %v, its event at %v", s.title, poll.Winning.Start, s.start)
	}
	return at, err
}

func eventsOf(owner int) string {
	return "http://google.sim/calendar/v3/calendars/" + url.PathEscape(email(owner)) + "/events"
}

// listAll lists all calendars once, for their tokens.
func (e *editing) listAll(ctx context.Context) error {
	e.syncTokens = make([]string, e.calendars)
	for n := range e.calendars {
		next, err := e.list(ctx, n, "")
		if err != nil {
			return err
		}
		e.syncTokens[n] = next
	}
	return nil
}

// list lists a calendar as the program does, over the network, and reads the answer.
func (e *editing) list(ctx context.Context, owner int, syncToken string) (next string, err error) {
	query := url.Values{"maxResults": {"2500"}, "showDeleted": {"true"}}
	if syncToken != "" {
		query.Set("syncToken", syncToken)
	}
	said, err := good(e.server.HTTP, func() (*http.Request, error) {
		address := e.googleAt.URL + "/calendar/v3/calendars/" + url.PathEscape(email(owner)) + "/events?" + query.Encode()
		return request(ctx, http.MethodGet, address, e.calendarTokens[owner], nil)
	})
	var page struct {
		Next string `json:"nextSyncToken"`
	}
	if err == nil {
		err = json.Unmarshal(said, &page)
	}
	return page.Next, err
}
