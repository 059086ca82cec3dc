package notify

import (
	"time"

	"questscheduler/rules"
)

// The events of this package, as its Meter counts them.
type (
	// Announced says that a transition was announced in every channel, After it was applied.
	// Announcing it once more (scheduler.Resend) is not counted again.
	Announced struct {
		Notice rules.Notice
		After  time.Duration
	}
	// ChannelRefused says that Discord refused a message or a card for good. Code is one of
	// the codes of this package.
	ChannelRefused struct{ Channel, Code string }
)
