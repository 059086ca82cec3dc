package poll_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// clock is a reader whose votes were made at a time, as Firestore says, and that counts what it
// reads.
type clock struct {
	store.Reader
	made  time.Time
	reads int
}

func (c *clock) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	docs, err := c.Reader.GetAll(ctx, paths)
	for i := range docs {
		docs[i].MadeAt = c.made
	}
	c.reads += len(docs)
	return docs, err
}

func (c *clock) Query(ctx context.Context, bound store.Bound) ([]store.Document, error) {
	docs, err := c.Reader.Query(ctx, bound)
	c.reads += len(docs)
	return docs, err
}

func TestConsented_VoteOfAClonedPoll_ProvesNothing(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	clone := map[string]any{"creatorId": "gm", "participantIds": []any{"gm", "ana"}, "googleCalendarId": nil, "createdAt": made}
	copied := map[string]any{
		"voterId": "ana", "userEmail": "ana@x", "userAvatar": nil, "votes": map[string]any{"s1": "FEASIBLE"},
		"noTimesWork": false, "updatedAt": made.Add(time.Hour),
	}
	with := func(data map[string]any, name string, value any) map[string]any {
		data = maps.Clone(data)
		data[name] = value
		if value == "" {
			delete(data, name)
		}
		return data
	}
	for name, row := range map[string]struct {
		poll, vote map[string]any
		after      time.Duration
		want       bool
	}{
		"copied":                             {clone, copied, time.Second, false},
		"copied by the slowest function":     {clone, copied, time.Minute - 1, false},
		"copied by a clock that lags":        {clone, copied, -time.Second, false},
		"later":                              {clone, copied, time.Minute, true},
		"in a poll that a client made":       {with(clone, "googleCalendarId", ""), copied, time.Second, true},
		"in one that was finalised since":    {with(clone, "googleCalendarId", "primary"), copied, time.Second, false},
		"on Discord":                         {clone, with(copied, "source", "discord"), time.Second, true},
		"by the person's own copy":           {clone, with(copied, "lastVotedFrom", "copyVotes"), time.Second, true},
		"over the API":                       {clone, with(copied, "userAvatar", ""), time.Second, true},
		"in a poll from before times":        {with(clone, "createdAt", ""), copied, time.Second, true},
		"joined, and the vote was copied":    {with(clone, "joinedIds", []any{"ana"}), copied, time.Second, true},
		"in a store that keeps no such time": {clone, copied, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents := open(t)
			put(t, documents, poll.Path("p1"), row.poll)
			put(t, documents, poll.VotePath("p1", "ana"), row.vote)
			reader := &clock{Reader: documents}
			if row.after != 0 {
				reader.made = made.Add(row.after)
			}
			p, err := poll.Load(t.Context(), documents, "p1")
			if err != nil {
				t.Fatal(err)
			}
			consented, err := poll.Consented(t.Context(), reader, p, nil, []string{"ana"})
			if err != nil || consented["ana"] != row.want {
				t.Errorf("ana consented: %t, %v", consented["ana"], err)
			}
		})
	}
}

// All votes are older than the poll's document: as after an import, or below a poll that was made
// under the id of a deleted one.
func TestConsented_ManyOlderVotes_AreReadOnce(t *testing.T) {
	t.Parallel()
	const many = 250
	documents := open(t)
	var people []string
	for i := range many {
		people = append(people, fmt.Sprintf("p%03d", i))
		put(t, documents, poll.VotePath("p1", people[i]), map[string]any{"voterId": people[i]})
	}
	put(t, documents, poll.Path("p1"), map[string]any{"creatorId": "gm"})
	p, err := poll.Load(t.Context(), documents, "p1")
	if err != nil {
		t.Fatal(err)
	}
	reader := &clock{Reader: documents}
	consented, err := poll.Consented(t.Context(), reader, p, nil, people)
	if got := slices.Sorted(maps.Keys(consented)); err != nil || !slices.Equal(got, people) {
		t.Errorf("%d of %d consented: %v", len(got), many, err)
	}
	if reader.reads > 2*many+10 {
		t.Errorf("it read %d documents for %d votes", reader.reads, many)
	}
}
