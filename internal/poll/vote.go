package poll

import (
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// The two ways to vote for a slot.
const (
	Feasible  = "FEASIBLE"
	Preferred = "PREFERRED"
)

// FromDiscord is the source of a vote that was given on Discord.
const FromDiscord = "discord"

// Vote is a document of schedulers/{id}/votes: what one person chose.
type Vote struct {
	UserID        string
	Email         string
	Avatar        string
	Choices       map[string]string // by slot id Feasible or Preferred
	NoTimesWork   bool
	UpdatedAt     time.Time
	Source        string
	LastVotedFrom string
}

// VotePath is where a person's vote is.
func VotePath(pollID, userID string) store.Path { return Path(pollID).Doc("votes", userID) }

// DecodeVote reads a vote's document, also with choices as true or {feasible, preferred}.
func DecodeVote(doc store.Document) Vote {
	vote := decodeVote(doc.Data)
	vote.UserID = doc.Path.ID()
	return vote
}

func decodeVote(data map[string]any) Vote {
	f := store.Fields(data)
	vote := Vote{
		UserID: f.String("uid"), Email: f.String("userEmail"), Avatar: f.String("userAvatar"),
		NoTimesWork: f.Bool("noTimesWork"), UpdatedAt: f.Time("updatedAt"),
		Source: f.String("source"), LastVotedFrom: f.String("lastVotedFrom"),
		Choices: map[string]string{},
	}
	choices := f.Map("votes")
	for slot := range choices {
		if choice := choiceOf(choices, slot); choice != "" {
			vote.Choices[slot] = choice
		}
	}
	return vote
}

func choiceOf(choices store.Fields, slot string) string {
	switch value := choices[slot].(type) {
	case string:
		if value == Feasible || value == Preferred {
			return value
		}
	case bool:
		if value {
			return Feasible
		}
	case map[string]any:
		if store.Fields(value).Bool("preferred") {
			return Preferred
		}
		if store.Fields(value).Bool("feasible") {
			return Feasible
		}
	}
	return ""
}

// VoteUpdates gives the fields that a person's vote writes. Over REST nobody says where they
// voted, nor shows a picture; what the web app keeps of both stays.
func VoteUpdates(v Vote) []store.Update {
	if v.Source == "" {
		return choiceUpdates(v)
	}
	return append(choiceUpdates(v),
		Set("source", v.Source), Set("lastVotedFrom", v.LastVotedFrom), Set("userAvatar", store.NullIfEmpty(v.Avatar)))
}

func choiceUpdates(v Vote) []store.Update {
	return []store.Update{
		Set("voterId", v.UserID), Set("userEmail", store.NullIfEmpty(v.Email)),
		SetChoices(v.Choices), Set("noTimesWork", v.NoTimesWork), Set("updatedAt", v.UpdatedAt),
	}
}

// EncodeVote gives the fields of a vote's document, for one that is put back.
func EncodeVote(v Vote) map[string]any {
	data := map[string]any{
		"userAvatar": store.NullIfEmpty(v.Avatar), "source": store.NullIfEmpty(v.Source),
		"lastVotedFrom": store.NullIfEmpty(v.LastVotedFrom),
	}
	for _, update := range choiceUpdates(v) {
		data[update.Path[0]] = update.Value
	}
	return data
}

// SetChoices gives a vote these choices and no others.
func SetChoices(choices map[string]string) store.Update { return Set("votes", choicesMap(choices)) }

func choicesMap(choices map[string]string) map[string]any {
	out := make(map[string]any, len(choices))
	for slot, choice := range choices {
		out[slot] = choice
	}
	return out
}

// Count is how many chose a slot as feasible, preferred ones included, and as preferred.
func Count(votes []Vote, slotID string) (feasible, preferred int64) {
	for _, vote := range votes {
		switch vote.Choices[slotID] {
		case Preferred:
			feasible++
			preferred++
		case Feasible:
			feasible++
		}
	}
	return feasible, preferred
}

// Chosen lists the slots of a vote, sorted.
func (v Vote) Chosen() []string { return slices.Sorted(maps.Keys(v.Choices)) }

var votesOf = store.Select("votes of a poll", "votes", "")

// LoadVotes reads all votes of a poll, by user id.
func LoadVotes(ctx context.Context, reader store.Reader, pollID string) ([]Vote, error) {
	docs, err := reader.Query(ctx, votesOf.With().Below(Path(pollID)))
	if err != nil {
		return nil, err
	}
	return decodeVotes(docs), nil
}

func decodeVotes(docs []store.Document) []Vote {
	votes := make([]Vote, len(docs))
	for i, doc := range docs {
		votes[i] = DecodeVote(doc)
	}
	return votes
}
