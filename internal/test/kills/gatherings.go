package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// host makes events of the group, and connects an account of a member to it and disconnects
// it. Another member's account is connected all the time.
type host struct {
	hand
	gatherings []*gathering
	connected  bool // the account of the member who comes and goes
	connects   int  // of that account, today
}

// gathering is an event of the group as its author remembers it.
type gathering struct {
	id, title string
	time      span
	live      bool
}

// The members whose accounts are connected: always, and now and then.
const (
	staying = "ana"
	leaving = "ben"
)

// A day allows 200 events of an author in a group and 20 connections of a person, of which one
// that is sent again may count again. Beyond that the host would have no answer until tomorrow.
const (
	mostGatherings = 180
	mostConnects   = 12
)

func (h *host) group() string { return "/v1/groups/" + h.w.groupID }

// begin connects both members' accounts.
func (h *host) begin(ctx context.Context) error {
	for _, who := range []string{staying, leaving} {
		got := h.w.v1(ctx, who, http.MethodPost, h.group()+"/connections", object{"account_id": h.w.accounts[who].id}, "")
		if !got.good() {
			return fmt.Errorf("connect an account of %s: %v", who, got)
		}
	}
	h.connected = true
	return nil
}

func (h *host) act(ctx context.Context) {
	if h.again(ctx) {
		return
	}
	h.choose(ctx, choice{8, h.create}, choice{8, h.move}, choice{4, h.rename}, choice{4, h.delete}, choice{1, h.connect})
}

func (h *host) create(ctx context.Context) {
	if len(h.gatherings) >= mostGatherings {
		return
	}
	start, end := h.w.times.next()
	g := &gathering{title: fmt.Sprintf("Gathering %04d", h.w.number()), time: instants(start, end), live: true}
	h.command(ctx, command{
		method: http.MethodPost, path: h.group() + "/events", key: h.w.key(),
		body: object{"title": g.title, "start": start, "end": end, "timezone": "UTC", "location": "The Tavern"},
		done: func(data object) {
			g.id = text(data, "id")
			h.gatherings = append(h.gatherings, g)
		},
	})
}

func (h *host) one() *gathering {
	live := slices.DeleteFunc(slices.Clone(h.gatherings), func(g *gathering) bool { return !g.live })
	if len(live) == 0 {
		return nil
	}
	return pick(h.random, live)
}

func (h *host) change(ctx context.Context, g *gathering, body object, done func(object)) {
	h.command(ctx, command{method: http.MethodPatch, path: h.group() + "/events/" + g.id, body: body, done: done})
}

func (h *host) move(ctx context.Context) {
	if g := h.one(); g != nil {
		start, end := h.w.times.next()
		h.change(ctx, g, object{"start": start, "end": end}, func(object) { g.time = instants(start, end) })
	}
}

func (h *host) rename(ctx context.Context) {
	if g := h.one(); g != nil {
		title := fmt.Sprintf("Gathering %04d", h.w.number())
		h.change(ctx, g, object{"title": title}, func(object) { g.title = title })
	}
}

func (h *host) delete(ctx context.Context) {
	g := h.one()
	if g == nil {
		return
	}
	h.command(ctx, command{
		method: http.MethodDelete, path: h.group() + "/events/" + g.id, done: func(object) { g.live = false },
		refused: func(_ context.Context, got answer, again bool) {
			if again && got.status == http.StatusNotFound { // an earlier attempt deleted it
				g.live = false
				return
			}
			h.w.note(finding{wrong, fmt.Sprintf("the deletion of %s is answered %v", g.title, got)})
		},
	})
}

// connect connects the account of the member who comes and goes, or disconnects it with its
// copies.
func (h *host) connect(ctx context.Context) {
	of := h.w.accounts[leaving].id
	if h.connected {
		h.command(ctx, command{
			who: leaving, method: http.MethodDelete, path: h.group() + "/connections/" + of + "?delete_events=true",
			done: func(object) { h.connected = false },
			refused: func(_ context.Context, got answer, again bool) {
				if again && got.status == http.StatusNotFound { // an earlier attempt disconnected it
					h.connected = false
					return
				}
				h.w.note(finding{wrong, fmt.Sprintf("the disconnection of %s is answered %v", leaving, got)})
			},
		})
		return
	}
	if h.connects >= mostConnects {
		return
	}
	h.command(ctx, command{
		who: leaving, method: http.MethodPost, path: h.group() + "/connections", body: object{"account_id": of},
		done: func(object) { h.connected, h.connects = true, h.connects+1 },
	})
}

// judge: the group has each event once, and so has each account that is connected.
func (h *host) judge(ctx context.Context, observed *observation, settled bool) (found []finding, err error) {
	listed, err := h.w.pages(ctx, h.who, h.group()+"/events?limit=100", "events")
	if err != nil {
		return nil, err
	}
	for _, g := range h.gatherings {
		there := 0
		for _, event := range listed {
			if text(event, "title") == g.title && text(event, "status") != "cancelled" {
				there++
			}
		}
		if h.waiting == nil {
			found = append(found, amount("the group", g, there, g.live)...)
		}
		if !settled {
			continue
		}
		found = append(found, amount(staying, g, g.copies(observed.events[h.w.accounts[staying].email]), g.live)...)
		found = append(found, amount(leaving, g, g.copies(observed.events[h.w.accounts[leaving].email]), g.live && h.connected)...)
	}
	return found, nil
}

// copies are how many copies of an event, as it is now, a calendar has.
func (g *gathering) copies(events []object) (count int) {
	for _, event := range events {
		if isCopy(event) && text(event, "summary") == g.title && eventSpan(event) == g.time {
			count++
		}
	}
	return count
}

func amount(who string, g *gathering, there int, live bool) []finding {
	switch {
	case there > 1:
		return []finding{{doubled, fmt.Sprintf("%s has %d times %s", who, there, g.title)}}
	case live && there == 0:
		return []finding{{lost, fmt.Sprintf("%s has no %s at %v", who, g.title, g.time)}}
	case !live && there == 1:
		return []finding{{lost, fmt.Sprintf("%s still has %s, which was deleted or disconnected", who, g.title)}}
	}
	return nil
}
