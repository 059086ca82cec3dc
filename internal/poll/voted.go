package poll

import (
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/store"
)

// Voted returns those of people who have a vote in a poll, at one read each.
func Voted(ctx context.Context, reader store.Reader, p Poll, people []string) (map[string]bool, error) {
	asked := make([]ballot, len(people))
	for i, id := range people {
		asked[i] = ballot{p, id}
	}
	found, err := given(ctx, reader, asked)
	voted := make(map[string]bool, len(found))
	for _, ballot := range found {
		voted[ballot.userID] = true
	}
	return voted, err
}

// ballot is where a person's vote in a poll may be.
type ballot struct {
	poll   Poll
	userID string
}

// path is the vote's; false for a text that clients wrote into a poll and that is no uid.
func (b ballot) path() (store.Path, bool) {
	path := VotePath(b.poll.ID, b.userID)
	return path, b.userID != "" && !strings.Contains(b.userID, "/") && path.Valid() == nil
}

// given returns the ballots whose votes prove that the person voted. A vote that a deleted poll of
// the same id left does not, and one that may be a copy does not. What is below a poll is read
// once, however many of its votes are older than its document.
func given(ctx context.Context, reader store.Reader, asked []ballot) (found []ballot, err error) {
	asked = slices.DeleteFunc(asked, func(b ballot) bool { _, ok := b.path(); return !ok })
	own := map[string]map[string]bool{} // by poll, those whose votes are the poll's own, if some are older
	for part := range slices.Chunk(asked, atOnce) {
		paths := make([]store.Path, len(part))
		for i, ballot := range part {
			paths[i], _ = ballot.path()
		}
		docs, err := reader.GetAll(ctx, paths)
		if err != nil {
			return nil, err
		}
		for i, ballot := range part {
			if !docs[i].Exists() || ballot.mayBeCopied(docs[i]) {
				continue
			}
			if ballot.poll.mayBeOverOlder(docs[i : i+1]) {
				if own[ballot.poll.ID] == nil {
					own[ballot.poll.ID], err = ownVotersOf(ctx, reader, ballot.poll)
					if err != nil {
						return nil, err
					}
				}
				if !own[ballot.poll.ID][ballot.userID] {
					continue
				}
			}
			found = append(found, ballot)
		}
	}
	return found, nil
}

// ownVotersOf are those whose votes are of a poll, and not of a deleted one of its id.
func ownVotersOf(ctx context.Context, reader store.Reader, p Poll) (map[string]bool, error) {
	_, votes, err := LoadChoices(ctx, reader, p)
	voters := make(map[string]bool, len(votes))
	for _, vote := range votes {
		voters[vote.UserID] = true
	}
	return voters, err
}

// copying is how long after it made a poll the web app's function that clones polls may write votes
// into it: its time limit is a minute.
const copying = time.Minute

// mayBeCopied reports whether the web app's functions may have written a vote: they clone a poll for
// its creator with everybody's votes. Such a poll had googleCalendarId from the beginning, its
// votes userAvatar and nothing of how the person voted, and they were made with it. The creator
// may have written the time of a vote, but not when its document was made.
func (b ballot) mayBeCopied(vote store.Document) bool {
	f := store.Fields(vote.Data)
	_, avatar := vote.Data["userAvatar"]
	return b.poll.namesCalendar && avatar && f.String("source") == "" && f.String("lastVotedFrom") == "" &&
		!vote.MadeAt.IsZero() && !b.poll.CreatedAt.IsZero() && vote.MadeAt.Sub(b.poll.CreatedAt) < copying
}
