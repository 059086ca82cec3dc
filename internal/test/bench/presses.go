package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"questscheduler/demo/sim/control"
	"questscheduler/web-hooks/interactions"
)

// How many people vote on Discord, how many of them in each poll and for how many slots, and how
// often they press. Each presses no more than a person may within a minute.
const (
	pressedPolls = 10
	votersEach   = 5
	pressedSlots = 12
	pressPause   = time.Second / 50
	pressesEach  = 20
)

// presses measures what people who vote on Discord wait: from when they press Vote, or submit the
// form, until Discord has the answer of the program's endpoint.
func presses(ctx context.Context, r *report, folder string) error {
	return pressesOf(ctx, r, folder, pressedPolls, pressesEach)
}

func pressesOf(ctx context.Context, r *report, folder string, polls, each int) (err error) {
	o, err := openOutside(ctx, beginning{folder: folder, people: polls * votersEach})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close(ctx)) }()
	p := &pressing{outside: o, guild: &http.Client{Transport: control.Transport(o.discord.Handler())}}
	if err := p.begin(ctx, polls); err != nil {
		return err
	}
	count := each * len(p.voters)
	alive, err := paced(ctx, count/2, func(int) error { return p.alive(ctx) })
	if err != nil {
		return err
	}
	before, err := processorTime(ctx, o.server)
	if err != nil {
		return err
	}
	took, err := paced(ctx, count, func(i int) error { return p.press(ctx, p.voters[i%len(p.voters)], i/len(p.voters)) })
	if err != nil {
		return err
	}
	after, err := processorTime(ctx, o.server)
	if err := errors.Join(err, p.check(ctx)); err != nil {
		return err
	}
	return errors.Join(
		r.add("health_50_a_second_p99", alive.at(0.99), "ms", ""),
		r.add("press_to_answer_50_a_second_p50", took.at(0.5), "ms", ""),
		r.add("press_to_answer_50_a_second_p99", took.at(0.99), "ms", "health_50_a_second_p99"),
		r.add("press_processor_time", float64(after-before)/float64(time.Millisecond)/float64(count), "ms", ""))
}

// pressing is polls with their cards, and who votes there.
type pressing struct {
	*outside
	guild  *http.Client // asks Discord's simulator to press, without a network
	polls  []pressedPoll
	voters []*voter
}

type pressedPoll struct {
	path, card string
	slots      []string
}

// voter is a person who has a form open, or none, and voted for a slot last.
type voter struct {
	n, poll, slot int
	mu            sync.Mutex // one press of a person comes after the other
	form          *voteForm
}

// begin makes the polls, and waits for their cards.
func (p *pressing) begin(ctx context.Context, polls int) error {
	p.polls = make([]pressedPoll, polls)
	var making errgroup.Group
	making.SetLimit(seedersAtOnce)
	for n := range polls {
		for i := range votersEach {
			p.voters = append(p.voters, &voter{n: n*votersEach + i, poll: n})
		}
		making.Go(func() (err error) {
			p.polls[n], err = p.makePoll(ctx, n*votersEach)
			return err
		})
	}
	if err := making.Wait(); err != nil {
		return err
	}
	if err := p.quiet(ctx); err != nil {
		return err
	}
	for n := range p.polls {
		found, err := p.cardOf(channelID(n * votersEach))
		if err != nil {
			return err
		}
		p.polls[n].card = found
	}
	at := map[string]string{"endpoint": p.server.URL + interactions.Path}
	_, err := good(p.guild, func() (*http.Request, error) {
		return request(ctx, http.MethodPut, "http://discord.sim/_sim/application", "", at)
	})
	return err
}

func (p *pressing) makePoll(ctx context.Context, owner int) (made pressedPoll, err error) {
	others := make([]int, votersEach-1)
	for i := range others {
		others[i] = owner + 1 + i
	}
	group, err := p.makeGroup(ctx, owner, others...)
	if err != nil {
		return made, err
	}
	slots := make([]map[string]any, pressedSlots)
	names := make([]string, votersEach)
	for i := range names {
		names[i] = uid(owner + i)
	}
	first := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 10)
	for i := range slots {
		start := first.AddDate(0, 0, i)
		slots[i] = map[string]any{"start": start, "end": start.Add(time.Hour)}
	}
	var poll struct {
		ID    string
		Slots []struct{ ID string }
	}
	body := map[string]any{
		"title": "Poll of " + uid(owner), "timezone": "UTC", "group_id": group, "slots": slots, "participant_ids": names,
	}
	err = p.call(ctx, asked{owner, http.MethodPost, "/v1/polls", body}, &poll)
	made.path = "/v1/polls/" + poll.ID
	for _, slot := range poll.Slots {
		made.slots = append(made.slots, slot.ID)
	}
	return made, err
}

// cardOf is the one message of a channel.
func (p *pressing) cardOf(channel string) (id string, err error) {
	posted := p.discord.Messages(channel)
	if len(posted) != 1 {
		return "", fmt.Errorf("the channel of a poll has %d messages instead of its card", len(posted))
	}
	return posted[0].ID, nil
}

// alive asks the program whether it is alive, which reads nothing.
func (p *pressing) alive(ctx context.Context) error {
	_, err := good(p.server.HTTP, func() (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, p.server.URL+"/healthz", nil)
	})
	return err
}

// paced calls do count times, 50 times a second, whatever the calls before wait for. Each counts
// from when it was due.
func paced(ctx context.Context, count int, do func(i int) error) (latencies, error) {
	took, failures := make(latencies, count), make([]error, count)
	var all sync.WaitGroup
	ticks := time.NewTicker(pressPause / 10)
	defer ticks.Stop()
	began := time.Now()
	for i := range count {
		due := began.Add(time.Duration(i) * pressPause)
		for time.Now().Before(due) {
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		all.Go(func() {
			failures[i] = do(i)
			took[i] = time.Since(due)
		})
	}
	all.Wait()
	return took, errors.Join(failures...)
}
