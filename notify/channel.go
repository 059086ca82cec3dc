package notify

import (
	"context"
	"net/url"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Channel is one way to reach people, such as Discord. A channel is registered in
// Announcer.Channels. Safe for concurrent use.
type Channel interface {
	// Name is the key of the channel's delivery in announcements/{pollId} and its
	// label in metrics, where operations/metrics/labels.go lists it ("other" otherwise). It
	// must never change, and CardName is taken.
	Name() string
	// Reaches reports, without IO, whether anybody of the message's poll may be reached.
	// If not, nothing is delivered and no delivery recorded.
	Reaches(message Message) bool
	// Deliver sends a message. It is called again until its delivery is recorded,
	// also after a crash (Message.Retry), so it derives an id from Message.State.Ref
	// or finds what it sent. An error means that the delivery is tried again, after
	// fault.RetryAfter of it.
	Deliver(ctx context.Context, message Message) (Receipt, error)
}

// DocumentChannel is a Channel whose messages are documents of the store. They are
// written in the transaction that begins the delivery, before any other channel delivers.
type DocumentChannel interface {
	Channel
	// Documents reads what a message needs in that transaction. nil: the documents are too
	// many for one, and Deliver writes them.
	Documents(ctx context.Context, reader store.Reader, message Message) (*Documents, error)
}

// Documents are a message as documents.
type Documents struct {
	Missing []store.Document // to be created
	Updates []store.Update   // further fields of the announcement
}

// CardChannel is a Channel that also keeps a card for each poll, which shows its
// present state.
type CardChannel interface {
	Channel
	// DrawsCards reports whether it draws cards at all.
	DrawsCards() bool
	// DrawCard makes a poll's card show the poll's state. An error means to try again.
	DrawCard(ctx context.Context, pollID string, drawing Drawing) (Drawn, error)
}

// CardName is the key of a card's delivery in announcements/{pollId}.
const CardName = "card"

// Message is what a channel delivers: a change of a poll.
type Message struct {
	Notice rules.Notice
	State  poll.Message // what is announced; its Ref is the same for every attempt
	Before poll.Message // what was announced before it, the same for every attempt
	Poll   poll.Poll
	Group  *poll.Group // nil if the poll has none
	Named  []string    // participants whom somebody else added; nothing is announced to them until they join or vote
	Retry  bool        // an earlier run may have delivered the message
}

// Text is the message in plain words, in the poll's time zone.
func (m Message) Text() string {
	return m.text(spoken, spoken.Notices[m.Notice].Body, plainTitle(m.Poll.Title, maxInAppTitle), spoken.inAppTime(zoneOf(m.Poll)))
}

// Receipt says what became of a message.
type Receipt struct {
	MessageID string // the message's id in the channel, if it has one
	// Refused says why the channel will never take the message; its text is
	// recorded for the people of the poll. nil: it took it.
	Refused *fault.Error
	// Record, unless nil, writes more in the transaction that records the delivery.
	// It may read first, and may be called several times.
	Record func(ctx context.Context, tx store.Tx, announcement poll.Announcement, delivery poll.Delivery) error
}

// pollURL is a poll's page in the web app at appURL; a path if that is "".
func pollURL(appURL, pollID string) string {
	return strings.TrimSuffix(appURL, "/") + "/scheduler/" + url.PathEscape(pollID)
}
