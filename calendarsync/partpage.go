package calendarsync

import (
	"context"

	"questscheduler/internal/gcal"
)

// collects reports whether an event waits for the end of its page, for a PageConsumer.
func (p *part) collects(event gcal.Event) bool {
	_, ok := p.Consumer.(PageConsumer)
	return ok && !event.Malformed
}

// applyPage applies the events of a page that were collected: together what the consumer
// can, and the others one by one, in the order of the page. An event that is there twice is
// one of the others.
func (p *part) applyPage(ctx context.Context, page gcal.Page, full bool) error {
	consumer, ok := p.Consumer.(PageConsumer)
	if !ok || p.stopped() {
		return nil
	}
	var collected []SyncedEvent
	times := map[string]int{}
	for _, event := range page.Events {
		if event.ID != "" && p.collects(event) && p.concerned(event.ID) {
			collected = append(collected, SyncedEvent{Event: event, Writable: page.Writable})
			times[event.ID]++
		}
	}
	var together []SyncedEvent
	for _, one := range collected {
		if times[one.Event.ID] == 1 {
			together = append(together, one)
		}
	}
	if err := p.run.sync.keepLease(ctx); err != nil {
		return err
	}
	var applied map[string]bool
	failure := guarded(func() (err error) {
		applied, err = consumer.ApplyPage(ctx, p.run, together, full)
		return err
	})
	if err := p.note(ctx, failure, ""); err != nil {
		return err
	}
	for _, one := range collected {
		if applied[one.Event.ID] {
			p.outcome[one.Event.ID] = true
			continue
		}
		if err := p.apply(ctx, one); err != nil {
			return err
		}
	}
	return nil
}
