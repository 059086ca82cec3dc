package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"questscheduler/notify"
)

// The kinds of interactions and of answers, and the parts of forms, by Discord's numbers.
const (
	pressedComponent = 3
	submittedForm    = 5
	answeredMessage  = 4
	answeredForm     = 9
	selectPart       = 3
)

// voteForm is the form by which a person votes.
type voteForm struct {
	CustomID   string `json:"custom_id"`
	Components []struct {
		Type      int `json:"type"`
		Component struct {
			Type     int    `json:"type"`
			CustomID string `json:"custom_id"`
			Options  []struct {
				Value string `json:"value"`
			} `json:"options"`
		} `json:"component"`
	} `json:"components"`
}

// press presses Vote on the card in every other round, and submits the form in the rounds between
// with another slot each time.
func (p *pressing) press(ctx context.Context, by *voter, round int) error {
	by.mu.Lock()
	defer by.mu.Unlock()
	if round%2 == 0 {
		by.form = &voteForm{}
		pressed := map[string]any{"custom_id": notify.VoteButton + strings.TrimPrefix(p.polls[by.poll].path, "/v1/polls/")}
		return p.act(ctx, by, act{pressedComponent, pressed, answeredForm}, by.form)
	}
	by.slot = (by.slot + 1 + by.n) % pressedSlots
	var said struct{ Content string }
	err := p.act(ctx, by, act{submittedForm, by.form.filledIn(by.slot), answeredMessage}, &said)
	if err == nil && !strings.Contains(said.Content, "★") {
		err = fmt.Errorf("a vote was answered %q", said.Content)
	}
	return err
}

// filledIn is the form with one slot chosen as the best, and none else.
func (f *voteForm) filledIn(slot int) map[string]any {
	var parts []map[string]any
	for i, label := range f.Components {
		part := map[string]any{"type": label.Component.Type, "custom_id": label.Component.CustomID}
		switch {
		case label.Component.Type != selectPart:
			part["value"] = false
		case i == 0 && slot < len(label.Component.Options):
			part["values"] = []string{label.Component.Options[slot].Value}
		default:
			part["values"] = []string{}
		}
		parts = append(parts, map[string]any{"type": label.Type, "component": part})
	}
	return map[string]any{"custom_id": f.CustomID, "components": parts}
}

// act is what somebody does, and the kind that the answer has to be of.
type act struct {
	kind int
	data map[string]any
	want int
}

// act has a voter do something on the card, and reads the data of the answer.
func (p *pressing) act(ctx context.Context, by *voter, does act, into any) error {
	body := map[string]any{
		"user": map[string]any{"id": discordID(by.n), "username": uid(by.n)}, "guild_id": guildID,
		"channel_id": channelID(by.poll * votersEach), "type": does.kind, "data": does.data, "message_id": p.polls[by.poll].card,
	}
	said, err := good(p.guild, func() (*http.Request, error) {
		return request(ctx, http.MethodPost, "http://discord.sim/_sim/interactions", "", body)
	})
	if err != nil {
		return err
	}
	var outcome struct {
		Answer struct {
			Type int
			Data json.RawMessage
		}
	}
	if err := json.Unmarshal(said, &outcome); err != nil {
		return err
	}
	if outcome.Answer.Type != does.want {
		return fmt.Errorf("%s was answered %s", does.data["custom_id"], said)
	}
	return json.Unmarshal(outcome.Answer.Data, into)
}

// check fails unless each poll has the last vote of each of its voters.
func (p *pressing) check(ctx context.Context) error {
	for _, by := range p.voters {
		var poll struct {
			Votes []struct {
				User  string `json:"user_id"`
				Votes map[string]string
			}
		}
		of := p.polls[by.poll]
		if err := p.call(ctx, asked{by.n, http.MethodGet, of.path, nil}, &poll); err != nil {
			return err
		}
		has := false
		for _, vote := range poll.Votes {
			has = has || vote.User == uid(by.n) && len(vote.Votes) == 1 && vote.Votes[of.slots[by.slot]] == "PREFERRED"
		}
		if !has {
			return fmt.Errorf("the last vote of %s is not in its poll: %v", uid(by.n), poll.Votes)
		}
	}
	return nil
}
