package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// busyPerson has two accounts whose calendars know about each other, and meetings in both,
// made in the calendar or with the program.
type busyPerson struct {
	hand
	policyID string
	meetings []*meeting
}

// meeting is an event as its owner remembers it.
type meeting struct {
	title     string
	at        account
	event     string // its id at Google; "": the program made it
	canonical string // its id at the program, where that made it
	live      bool
}

func (b *busyPerson) act(ctx context.Context) {
	if b.again(ctx) {
		return
	}
	b.choose(ctx,
		choice{4, b.insert}, choice{2, b.create}, choice{5, b.move}, choice{2, b.rename}, choice{2, b.delete},
		choice{1, func(ctx context.Context) { b.setEdges(ctx, pick(b.random, []string{"BUSY", "TITLE", "FULL"})) }},
	)
}

// begin turns mirroring on.
func (b *busyPerson) begin(ctx context.Context) error {
	made := b.w.v1(ctx, b.who, http.MethodPost, "/v1/policies", object{"name": "Both ways"}, "")
	if !made.good() {
		return fmt.Errorf("make a policy: %v", made)
	}
	b.policyID = text(made.data, "id")
	b.setEdges(ctx, "TITLE")
	return nil
}

// setEdges has the second account show the first in a calendar of its own, and the first show
// that the second is busy.
func (b *busyPerson) setEdges(ctx context.Context, detail string) {
	first, other := b.w.accounts[b.who].id, b.w.accounts[second].id
	b.command(ctx, command{method: http.MethodPut, path: "/v1/policies/" + b.policyID + "/edges", body: object{"edges": []object{
		{"from_account_id": first, "to_account_id": other, "detail": detail, "target": "overlay"},
		{"from_account_id": other, "to_account_id": first, "detail": "BUSY", "target": "primary"},
	}}})
}

func (b *busyPerson) newMeeting() *meeting {
	return &meeting{title: fmt.Sprintf("Meeting %04d", b.w.number()), at: b.w.accounts[pick(b.random, []string{b.who, second})], live: true}
}

// insert makes a meeting in the calendar.
func (b *busyPerson) insert(ctx context.Context) {
	m := b.newMeeting()
	body := timed(b.w.times.next())
	body["summary"], body["description"], body["location"] = m.title, "With the lawyers", "Room 5"
	if got := b.w.calendar(ctx, m.at, http.MethodPost, m.at.events(), body); got.good() {
		m.event = text(got.data, "id")
		b.meetings = append(b.meetings, m)
	}
}

// create makes a meeting with the program.
func (b *busyPerson) create(ctx context.Context) {
	m := b.newMeeting()
	start, end := b.w.times.next()
	b.command(ctx, command{
		method: http.MethodPost, path: "/v1/events", key: b.w.key(),
		body: object{"account_id": m.at.id, "title": m.title, "start_ts": start, "end_ts": end},
		done: func(data object) {
			m.canonical = text(data, "canonical_event_id")
			b.meetings = append(b.meetings, m)
		},
	})
}

// one is a meeting that is not deleted; nil: there is none.
func (b *busyPerson) one() *meeting {
	live := slices.DeleteFunc(slices.Clone(b.meetings), func(m *meeting) bool { return !m.live })
	if len(live) == 0 {
		return nil
	}
	return pick(b.random, live)
}

func (b *busyPerson) move(ctx context.Context) {
	m := b.one()
	if m == nil {
		return
	}
	start, end := b.w.times.next()
	if m.canonical == "" {
		b.w.calendar(ctx, m.at, http.MethodPatch, m.at.event(m.event), timed(start, end))
		return
	}
	b.command(ctx, command{method: http.MethodPatch, path: "/v1/events/" + m.canonical, body: object{"start_ts": start, "end_ts": end}})
}

func (b *busyPerson) rename(ctx context.Context) {
	m := b.one()
	if m == nil {
		return
	}
	title := fmt.Sprintf("Meeting %04d", b.w.number())
	if m.canonical == "" {
		if got := b.w.calendar(ctx, m.at, http.MethodPatch, m.at.event(m.event), object{"summary": title}); got.good() {
			m.title = title
		}
		return
	}
	b.command(ctx, command{
		method: http.MethodPatch, path: "/v1/events/" + m.canonical, body: object{"title": title},
		done: func(object) { m.title = title },
	})
}

func (b *busyPerson) delete(ctx context.Context) {
	m := b.one()
	if m == nil {
		return
	}
	if m.canonical == "" {
		if got := b.w.calendar(ctx, m.at, http.MethodDelete, m.at.event(m.event), nil); got.good() {
			m.live = false
		}
		return
	}
	gone := func(object) { m.live = false }
	b.command(ctx, command{
		method: http.MethodDelete, path: "/v1/events/" + m.canonical, done: gone,
		refused: func(_ context.Context, got answer, again bool) {
			if again && got.status == http.StatusNotFound { // an earlier attempt deleted it
				gone(nil)
				return
			}
			b.w.note(finding{wrong, fmt.Sprintf("the deletion of %s is answered %v", m.title, got)})
		},
	})
}

// judge: each meeting is there once, and nothing is copied twice. That everything is copied,
// and as the edges say, is found in the stored documents.
func (b *busyPerson) judge(_ context.Context, observed *observation, settled bool) (found []finding, err error) {
	for _, m := range b.meetings {
		there := len(observed.named(m.at.email, m.title))
		switch {
		case there > 1:
			found = append(found, finding{doubled, fmt.Sprintf("%s is %d times in the calendar of %s", m.title, there, m.at.email)})
		case settled && m.live && there == 0:
			found = append(found, finding{lost, fmt.Sprintf("%s is not in the calendar of %s", m.title, m.at.email)})
		case settled && !m.live && there == 1:
			found = append(found, finding{lost, fmt.Sprintf("%s was deleted, and is in the calendar of %s", m.title, m.at.email)})
		}
	}
	if settled && b.w.times.unique() {
		found = append(found, repeatedCopies(observed)...)
	}
	return found, nil
}

// repeatedCopies: no calendar has two copies at the same time, since no two events have it.
func repeatedCopies(observed *observation) (found []finding) {
	for calendar, events := range observed.events {
		at := map[span]string{}
		for _, event := range events {
			if !isCopy(event) {
				continue
			}
			if other := at[eventSpan(event)]; other != "" {
				found = append(found, finding{
					doubled,
					fmt.Sprintf("calendar %s has the copies %s and %s at %v", calendar, other, text(event, "id"), eventSpan(event)),
				})
			}
			at[eventSpan(event)] = text(event, "id")
		}
	}
	return found
}
