package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// reader reads what others do: feeds, times, lists and the sync's health. What it reads is
// always there.
type reader struct {
	hand
	feeds map[string]string // addresses, by person
}

func (r *reader) act(ctx context.Context) {
	if r.again(ctx) {
		return
	}
	r.choose(ctx, choice{1, r.renew}, choice{3, r.readFeed}, choice{3, r.readTimes}, choice{2, r.readLists})
}

// renew makes a feed; the address before stops working.
func (r *reader) renew(ctx context.Context) {
	who := pick(r.random, party)
	delete(r.feeds, who)
	r.command(ctx, command{who: who, method: http.MethodPost, path: "/v1/feed", done: func(data object) { r.feeds[who] = text(data, "url") }})
}

func (r *reader) readFeed(ctx context.Context) {
	who := pick(r.random, party)
	if address := r.feeds[who]; address != "" {
		if got := r.w.feed(ctx, address); got.answered() && !got.good() {
			r.w.note(finding{lost, fmt.Sprintf("the feed of %s is answered %v", who, got)})
		}
	}
}

// feed reads a feed, whatever address it was given under.
func (w *world) feed(ctx context.Context, address string) answer {
	at, err := url.Parse(address)
	if err != nil {
		return answer{raw: []byte(err.Error())}
	}
	return send(ctx, w.server.HTTP, http.MethodGet, w.server.URL+at.Path, "", nil, "")
}

func (r *reader) readTimes(ctx context.Context) {
	r.get(ctx, "/v1/availability?"+r.w.within(r.w.times.first, r.w.times.first.AddDate(0, 0, timesDays)))
}

// within is a query for a time.
func (w *world) within(from, to time.Time) string {
	return url.Values{"start": {from.Format(time.RFC3339)}, "end": {to.Format(time.RFC3339)}}.Encode()
}

func (r *reader) readLists(ctx context.Context) {
	r.get(ctx, pick(r.random, []string{
		"/v1/polls?limit=20", "/v1/notifications?limit=20", "/v1/sync/status", "/v1/sync/journal?limit=20",
		"/v1/events?" + r.w.within(r.w.times.first, r.w.times.first.AddDate(0, 0, 20)), "/v1/groups/" + r.w.groupID + "/events",
	}))
}

// judge: each feed names each session once. What it says of it is compared with the stored
// polls.
func (r *reader) judge(ctx context.Context, _ *observation, _ bool) (found []finding, err error) {
	for who, address := range r.feeds {
		got := r.w.feed(ctx, address)
		if !got.good() {
			return nil, fmt.Errorf("the feed of %s: %v", who, got)
		}
		count := map[string]int{}
		for line := range strings.Lines(string(got.raw)) {
			if uid, is := strings.CutPrefix(line, "UID:"); is {
				count[uid]++
				if count[uid] == 2 {
					found = append(found, finding{doubled, fmt.Sprintf("the feed of %s has twice %s", who, uid)})
				}
			}
		}
	}
	return found, nil
}
