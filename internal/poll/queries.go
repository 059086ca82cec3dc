package poll

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

var (
	pollsOfCreator = newestFirst("createdAt",
		store.Select("polls of a creator, newest first", "schedulers", "", store.Where("creatorId", store.Equal)))
	pollsOfCreatorByStatus = newestFirst("createdAt",
		store.Select("polls of a creator by status, newest first", "schedulers", "", store.Where("creatorId", store.Equal),
			store.Where("status", store.Equal)))
	pollsOfParticipant = newestFirst("createdAt",
		store.Select("polls of a participant, newest first", "schedulers", "", store.Where("participantIds", store.ArrayContains)))
	pollsOfParticipantByStatus = newestFirst("createdAt",
		store.Select("polls of a participant by status, newest first", "schedulers", "",
			store.Where("participantIds", store.ArrayContains), store.Where("status", store.Equal)))
)

// finalisedPolls are in the order of their paths, which is stable while a sweep reads them.
var finalisedPolls = store.Select("finalised polls", "schedulers", "", store.Where("status", store.Equal))

// Finalised lists finalised polls, at most limit behind after.
func Finalised(ctx context.Context, reader store.Reader, limit int, after *store.Cursor) ([]Poll, *store.Cursor, error) {
	return store.Page(ctx, reader, finalisedPolls.With(string(rules.Finalized)).First(limit).From(after), Decode)
}

// WithPrefix lists the ids that begin with a text, of at most limit polls of each status.
func WithPrefix(ctx context.Context, reader store.Reader, prefix string, limit int) (ids []string, err error) {
	before := Path(prefix) // by the order of paths
	if err := before.Valid(); err != nil {
		return nil, err
	}
	for _, status := range rules.Statuses {
		from := finalisedPolls.With(string(status)).First(limit).From(&store.Cursor{Path: before})
		polls, _, err := store.Page(ctx, reader, from, Decode)
		if err != nil {
			return nil, err
		}
		for _, p := range polls {
			if strings.HasPrefix(p.ID, prefix) {
				ids = append(ids, p.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// editedPolls are in the order of their paths, as the finalised ones are.
var editedPolls = store.Select("polls of another status than their journal knows", "schedulers", "",
	store.Where("status", store.Equal), store.Filter{Path: SyncField("recorded", "status"), Op: store.In})

// Edited lists the polls of a status that their journal does not know, at most limit behind
// after: somebody wrote it directly. As a rule there are none, and asking costs next to
// nothing.
func Edited(ctx context.Context, reader store.Reader, status rules.Status, limit int, after *store.Cursor) ([]Poll, *store.Cursor, error) {
	var others []any
	for _, other := range rules.Statuses {
		if other != status {
			others = append(others, string(other))
		}
	}
	return store.Page(ctx, reader, editedPolls.With(string(status), others).First(limit).From(after), Decode)
}

var pollsWithError = store.Select("polls of everybody with a sync error", "schedulers", "", store.Filter{
	Path: SyncField("error", "code"), Op: store.Equal,
})

// WithError lists polls of everybody with an error of the sync, at most limit.
func WithError(ctx context.Context, reader store.Reader, code rules.ErrorCode, limit int) ([]Poll, error) {
	polls, _, err := store.Page(ctx, reader, pollsWithError.With(string(code)).First(limit), Decode)
	return polls, err
}

// Queries are all queries of this package, for opening a store.
var Queries = []*store.Query{
	slotsOf, slotsFrom, votesOf, journalByTime, journalsOfCreator, allJournals, entriesBefore, announcementsDue, cardsDue, IntentsDue,
	intentsOfPoll, intentsOfAccount,
	indexOfPoll, indexOfCalendar, expiredSnapshots, snapshotsOf, embeddedOf, allAnnouncements,
	finalisedPolls, startingPolls, editedPolls, pollsWithError, pollsOfCreator, pollsOfCreatorByStatus, pollsOfParticipant,
	pollsOfParticipantByStatus, sessionsOfParticipant,
	pollsJoined, pollsOfGroupsNaming, votesOfPerson, sessionsNaming, laterPollsOfCreator,
	groupsOfMember, groupsOfCreator, groupsInviting, groupsOfChannel, pollsOfGroup, pollsOfGroupByID,
	writtenSince[0], writtenSince[1], writtenSince[2],
}

// List is which polls of a person are asked for.
type List struct {
	UserID string
	// Participant asks for the polls that the person takes part in, not those they created.
	Participant bool
	Status      string // "" for all
	Limit       int
	After       *store.Cursor
}

// WalkList gives a person's polls to take, newest first, as store.Walk does.
func WalkList(
	ctx context.Context, reader store.Reader, list List, take func(Poll) (taken bool, err error),
) (next *store.Cursor, err error) {
	query, args := pollsOfCreator, []any{list.UserID}
	switch {
	case list.Participant && list.Status != "":
		query = pollsOfParticipantByStatus
	case list.Participant:
		query = pollsOfParticipant
	case list.Status != "":
		query = pollsOfCreatorByStatus
	}
	if list.Status != "" {
		args = append(args, list.Status)
	}
	asked := query.With(args...).First(list.Limit).From(list.After)
	return store.Walk(ctx, reader, asked, Decode, take)
}
