package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// observation is what calendars, people's notices and the channel show at one time.
type observation struct {
	events   map[string][]object            // live ones, by calendar
	notices  map[string]map[string][]notice // by person and poll, oldest first
	messages []string                       // of the channel, oldest first
	overlay  string                         // the calendar of the game master's copies
}

// notice is a notice in the app.
type notice struct {
	kind, body string
	at         time.Time
}

// observe reads everything outside the program, and people's notices.
func (w *world) observe(ctx context.Context) (*observation, error) {
	observed := &observation{events: map[string][]object{}, notices: map[string]map[string][]notice{}}
	var err error
	observed.overlay, err = w.overlay(ctx)
	if err != nil {
		return nil, err
	}
	for _, of := range w.accounts {
		observed.events[of.email], err = w.shown(ctx, of, of.email)
		if err != nil {
			return nil, err
		}
	}
	if observed.overlay != "" {
		observed.events[observed.overlay], err = w.shown(ctx, w.accounts[second], observed.overlay)
		if err != nil {
			return nil, err
		}
	}
	for _, who := range party {
		observed.notices[who], err = w.noticesOf(ctx, who)
		if err != nil {
			return nil, err
		}
	}
	observed.messages, err = w.messages(ctx)
	return observed, err
}

// overlay is the calendar of copies in the second account; "": none yet.
func (w *world) overlay(ctx context.Context) (id string, err error) {
	got := w.calendar(ctx, w.accounts[second], http.MethodGet, "users/me/calendarList", nil)
	if !got.good() {
		return "", fmt.Errorf("list the calendars of the second account: %v", got)
	}
	for _, calendar := range list(got.data["items"]) {
		if text(calendar, "summary") != overlayName {
			continue
		}
		if id != "" {
			w.note(finding{doubled, "there are two calendars " + overlayName + ": " + id + " and " + text(calendar, "id")})
		}
		id = text(calendar, "id")
	}
	return id, nil
}

const overlayName = "External Busy"

func (w *world) noticesOf(ctx context.Context, who string) (map[string][]notice, error) {
	all, err := w.pages(ctx, who, "/v1/notifications?limit=100", "notifications")
	if err != nil {
		return nil, err
	}
	byPoll := map[string][]notice{}
	for _, one := range slices.Backward(all) { // newest first
		at, _ := time.Parse(time.RFC3339Nano, text(one, "created_at"))
		poll := text(one, "resource", "id")
		byPoll[poll] = append(byPoll[poll], notice{text(one, "type"), text(one, "body"), at})
	}
	return byPoll, nil
}

// messages are the texts of the channel.
func (w *world) messages(ctx context.Context) (texts []string, err error) {
	got := send(ctx, w.outside, http.MethodGet, w.sims.discordURL+"/_sim/channels/"+channelID+"/messages", "", nil, "")
	var all []object
	if err := json.Unmarshal(got.raw, &all); err != nil {
		return nil, fmt.Errorf("the channel's messages: %v: %w", got.status, err)
	}
	for _, message := range all {
		texts = append(texts, text(message, "content"))
	}
	return texts, nil
}

// about are the messages that name something.
func (s *observation) about(title string) (texts []string) {
	for _, content := range s.messages {
		if strings.Contains(content, title) {
			texts = append(texts, content)
		}
	}
	return texts
}

// named are the events of a calendar that have a title, without copies.
func (s *observation) named(calendar, title string) (events []object) {
	for _, event := range s.events[calendar] {
		if text(event, "summary") == title && !isCopy(event) {
			events = append(events, event)
		}
	}
	return events
}

func isCopy(event object) bool { return strings.HasPrefix(text(event, "id"), copyPrefix) }

// The beginnings of ids of events that the program makes.
const (
	pollPrefix = "questsched"
	copyPrefix = "questmirror"
)
