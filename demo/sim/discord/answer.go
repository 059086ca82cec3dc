package discord

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The types of answers, by Discord's numbers.
const (
	answerMessage     = 4
	answerLater       = 5
	answerLaterUpdate = 6
	answerUpdate      = 7
	answerChoices     = 8
	answerModal       = 9
)

// Flags of messages.
const (
	flagEphemeral  = 1 << 6
	flagLoading    = 1 << 7                                        // the answer was deferred and has not come yet
	flagsOfAnswers = 1<<2 | flagEphemeral | 1<<12 | isComponentsV2 // that an answer may set
)

// Limits of an answer to an autocompletion, in characters and pieces.
const (
	maxChoices    = 25
	maxChoiceText = 100
)

// permitted are the types that an interaction of each kind may be answered with.
var permitted = map[int][]int{
	kindCommand:      {answerMessage, answerLater, answerModal},
	kindComponent:    {answerMessage, answerLater, answerLaterUpdate, answerUpdate, answerModal},
	kindAutocomplete: {answerChoices},
	kindSubmit:       {answerMessage, answerLater},
}

// takeAnswer does what the endpoint answered. An error is Discord's refusal, and nothing
// has changed. The caller holds the lock.
func (s *Server) takeAnswer(it interaction, body []byte) error {
	var answer struct {
		Type int                        `json:"type"`
		Data map[string]json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return coded(codeInvalidJSON)
	}
	if !slices.Contains(permitted[it.Kind], answer.Type) {
		return fmt.Errorf("type: an interaction of type %d may be answered with the types %v, not with %d",
			it.Kind, permitted[it.Kind], answer.Type)
	}
	it.State = stateAnswered
	switch answer.Type {
	case answerMessage, answerLater:
		build := s.newAnswer
		if answer.Type == answerLater {
			build = s.newDeferral
		}
		m, err := build(it, answer.Data)
		if err != nil {
			return err
		}
		it.Original = m.ID
		if err := s.keep(it, m); err != nil {
			return err
		}
	case answerLaterUpdate:
		it.Original = it.Pressed
	case answerUpdate:
		it.Original = it.Pressed
		if _, err := s.update(it, answer.Data); err != nil {
			return err
		}
	case answerChoices:
		if err := checkChoices(answer.Data); err != nil {
			return err
		}
	case answerModal:
		if err := checkModal(answer.Data); err != nil {
			return err
		}
	}
	return s.commit(record{Interaction: &it})
}

// newAnswer makes a message of an answer or a follow-up.
func (s *Server) newAnswer(it interaction, fields map[string]json.RawMessage) (Message, error) {
	f, err := newForm(fields)
	if err != nil {
		return Message{}, err
	}
	if err := f.checkFlags(flagsOfAnswers); err != nil {
		return Message{}, err
	}
	now := s.clock.Now()
	m := blank(it.Channel, bot(), now)
	m.TTS = f.tts
	m.take(f)
	if m.empty() {
		return Message{}, coded(codeEmptyMessage)
	}
	s.mentionIn(&m, f.allowed)
	m.ID = s.newID(now)
	return m, nil
}

// newDeferral makes the message that stands for an answer to come.
func (s *Server) newDeferral(it interaction, fields map[string]json.RawMessage) (Message, error) {
	f, err := newForm(map[string]json.RawMessage{"flags": fields["flags"]})
	if err == nil {
		err = f.checkFlags(flagEphemeral)
	}
	if err != nil {
		return Message{}, err
	}
	now := s.clock.Now()
	m := blank(it.Channel, bot(), now)
	m.take(f)
	m.Flags |= flagLoading
	m.ID = s.newID(now)
	return m, nil
}

// update writes an answer into @original and ends its deferral. Who sees it does not change.
func (s *Server) update(it interaction, fields map[string]json.RawMessage) (Message, error) {
	m, found := s.world.shownTo(it, it.Original)
	if !found {
		return Message{}, coded(codeUnknownMessage)
	}
	f, err := newForm(fields)
	if err != nil {
		return Message{}, err
	}
	seen := m.Flags & flagEphemeral
	m.take(f)
	m.Flags = m.Flags&^(flagEphemeral|flagLoading) | seen
	if m.empty() {
		return Message{}, coded(codeEmptyMessage)
	}
	if f.content != nil || f.allowed == nil {
		s.mentionIn(&m, f.allowed)
	}
	edited := stamp(s.clock.Now())
	m.EditedTimestamp = &edited
	return m, s.keep(it, m)
}

// checkFlags refuses flags that an answer cannot have.
func (f form) checkFlags(allowed int) error {
	if f.flags == nil || *f.flags&^allowed == 0 {
		return nil
	}
	wrong := formErrors{}
	wrong.add("MESSAGE_FLAGS_INVALID", fmt.Sprintf("Flags %d may not be set here.", *f.flags&^allowed), "flags")
	return wrong.problem()
}

// mentionIn finds whom a message mentions. One without allowed_mentions mentions people
// alone, other than a bot's post; an ephemeral one pings nobody.
func (s *Server) mentionIn(m *Message, allowed *allowedMentions) {
	if allowed == nil {
		allowed = &allowedMentions{Parse: []string{"users"}}
	}
	var c Channel
	if known, ok := s.world.channels[m.ChannelID]; ok {
		c = known.Channel
	}
	m.mention(allowed, c, s.world.guilds[c.GuildID])
	if m.Flags&flagEphemeral != 0 {
		m.Pinged = nil
	}
}

// checkChoices checks an answer to an autocompletion.
func checkChoices(fields map[string]json.RawMessage) error {
	wrong := formErrors{}
	var choices []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(fields["choices"], &choices) != nil {
		wrong.required("choices")
	}
	if len(choices) > maxChoices {
		wrong.tooLong(maxChoices, "choices")
	}
	for i, c := range choices {
		wrong.text(c.Name, 1, maxChoiceText, "choices", index(i), "name")
		var text string
		var number float64
		switch {
		case json.Unmarshal(c.Value, &text) == nil:
			wrong.text(text, 0, maxChoiceText, "choices", index(i), "value")
		case json.Unmarshal(c.Value, &number) != nil:
			wrong.required("choices", index(i), "value")
		}
	}
	return wrong.problem()
}
