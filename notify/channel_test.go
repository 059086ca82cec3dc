package notify_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
)

// pager is a channel that this package does not know.
type pager struct {
	texts   []string
	retries int
	nobody  bool // it reaches nobody
	receipt notify.Receipt
	err     error
}

func (*pager) Name() string { return "pager" }

func (p *pager) Reaches(notify.Message) bool { return !p.nobody }

func (p *pager) Deliver(_ context.Context, m notify.Message) (notify.Receipt, error) {
	if m.Retry {
		p.retries++
	}
	if p.err != nil {
		return notify.Receipt{}, p.err
	}
	p.texts = append(p.texts, m.Text())
	return p.receipt, nil
}

// paged is a world with a pager, whose poll was moved.
func paged(t *testing.T) (*world, *pager, string) {
	t.Helper()
	w, p := announced(t), &pager{receipt: notify.Receipt{MessageID: "17"}}
	w.announcer.Channels = append(w.announcer.Channels, p)
	w.move(moved)
	return w, p, w.want("gm", 0)
}

func TestChannel_Registered_DeliversOnceAndIsRecorded(t *testing.T) {
	t.Parallel()
	w, p, ref := paged(t)
	w.checkCard()
	w.checkCard()
	wantTexts(t, "pager", p.texts, movedBody)
	if got := w.announcement().Channels["pager"]; got.Ref != ref || got.MessageID != "17" || got.Error != "" {
		t.Errorf("delivery %+v", got)
	}
}

func TestChannel_TemporaryError_IsRetriedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	w, p, ref := paged(t)
	p.err = &fault.Error{Kind: fault.RateLimited, RetryAfter: time.Minute}
	if verdict := w.run(); verdict.Outcome != runFailed || verdict.After != time.Minute {
		t.Fatalf("the run ends as %+v", verdict)
	}
	p.err = nil
	w.toTheEnd()
	wantTexts(t, "pager", p.texts, movedBody)
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage)
	if got := w.announcement(); p.retries != 1 || got.Announced.Ref != ref {
		t.Errorf("%d retries, announcement %+v", p.retries, got)
	}
}

func TestChannel_TemporaryError_DelaysNoChannelBehindIt(t *testing.T) {
	t.Parallel()
	w, p, ref := paged(t)
	slices.Reverse(w.announcer.Channels)
	p.err = &fault.Error{Kind: fault.RateLimited, RetryAfter: time.Minute}
	if verdict := w.run(); verdict.Outcome != runFailed || verdict.After != time.Minute {
		t.Fatalf("the run ends as %+v", verdict)
	}
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage)
	if got := w.announcement(); got.Announced.Ref == ref {
		t.Error("the state is announced, though a channel has to be tried again")
	}
	p.err = nil
	w.toTheEnd()
	wantTexts(t, "pager", p.texts, movedBody)
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage)
	if got := w.announcement(); got.Announced.Ref != ref {
		t.Errorf("announcement %+v", got)
	}
}

func TestChannel_Refusal_IsRecordedAndCounted(t *testing.T) {
	t.Parallel()
	w, p, ref := paged(t)
	count := &tally{}
	w.announcer.Meter = count.count
	p.receipt = notify.Receipt{Refused: &fault.Error{Kind: fault.Provider, Code: notify.CodeRefused, Message: "The pager is off."}}
	w.checkCard()
	if got := w.announcement().Channels["pager"]; got.Ref != ref || got.Error != "The pager is off." {
		t.Errorf("delivery %+v", got)
	}
	if !slices.Contains(count.counted, "pager refused: refused") {
		t.Errorf("counted %q", count.counted)
	}
	if w.poll().Discord.Error != "" {
		t.Error("the refusal is on the poll as Discord's")
	}
}

func TestChannel_WithoutRecipient_HasNoDelivery(t *testing.T) {
	t.Parallel()
	w, p, ref := paged(t)
	p.nobody, p.err = true, errors.New("it is not called")
	w.checkCard()
	a := w.announcement()
	if _, recorded := a.Channels["pager"]; recorded || a.Announced.Ref != ref {
		t.Errorf("announcement %+v", a)
	}
}

// The channels of this package have the names that stored announcements have.
func TestChannel_Names_AreThoseOfStoredDeliveries(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	ref := w.want("gm", 0)
	w.mustEnd()
	for _, name := range []string{"in-app", "discord", "card"} {
		if got := w.announcement().Channels[name]; got.Ref != ref {
			t.Errorf("%s: delivery %+v", name, got)
		}
	}
}

// A delivery is recorded together with what its channel records, or not at all.
func TestChannel_RecordThatFails_LeavesTheDeliveryPending(t *testing.T) {
	t.Parallel()
	w, p, _ := paged(t)
	p.receipt.Record = func(context.Context, store.Tx, poll.Announcement, poll.Delivery) error { return errors.New("no") }
	if verdict := w.run(); verdict.Outcome != runFailed {
		t.Fatalf("the run ends as %+v", verdict)
	}
	if _, recorded := w.announcement().Channels["pager"]; recorded {
		t.Error("the delivery is recorded")
	}
}
