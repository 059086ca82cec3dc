package interactions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// who says who has not voted in a poll. Where votes are hidden from the reader it gives numbers.
func (h *handler) who(ctx context.Context, in request) (answer, error) {
	person, view, err := h.read(ctx, in)
	if err != nil {
		return answer{}, err
	}
	text, err := missing(ctx, h.Store, view, person.UID)
	return say(text), err
}

func missing(ctx context.Context, reader store.Reader, view scheduler.View, uid string) (string, error) {
	group := view.Group
	if view.Poll.HidesMembers(uid, group) {
		group = nil
	}
	people := view.Poll.People(group)
	votes, err := poll.LoadVotesOf(ctx, reader, view.Poll)
	if err != nil {
		return "", err
	}
	waiting := slices.DeleteFunc(slices.Clone(people), func(uid string) bool {
		return slices.ContainsFunc(votes, func(vote poll.Vote) bool { return vote.UserID == uid && vote.Given() })
	})
	count := fmt.Sprintf("%d of %d have voted.", len(people)-len(waiting), len(people))
	switch {
	case len(waiting) == 0:
		return "Everybody has voted.", nil
	case len(votes) != len(view.Poll.VotesFor(uid, votes)) || view.ParticipantsHidden():
		return count, nil
	}
	names, err := namesOf(ctx, reader, waiting)
	return count + " Missing: " + strings.Join(names, ", "), err
}

// mostNamed is how many people an answer names at most.
const mostNamed = 40

// namesOf mentions people who are linked, which pings nobody here, and names others by the name
// that they show. Addresses are never shown.
func namesOf(ctx context.Context, reader store.Reader, uids []string) (names []string, err error) {
	more := len(uids) - mostNamed
	profiles, err := discord.NamesOf(ctx, reader, uids[:min(len(uids), mostNamed)])
	for _, profile := range profiles {
		switch {
		case profile.UserID != "":
			names = append(names, "<@"+profile.UserID+">")
		case profile.DisplayName != "":
			names = append(names, plain(profile.DisplayName))
		default:
			names = append(names, "somebody without a name")
		}
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return names, err
}

// plain is a name that people chose, without Discord's markup and mentions.
func plain(name string) string {
	return cut(strings.Map(func(r rune) rune {
		if strings.ContainsRune("@<>*_~`|[]()#\\/\n\r", r) {
			return ' '
		}
		return r
	}, name), 40)
}
