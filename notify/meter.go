package notify

import (
	"time"

	"questscheduler/rules"
)

// Meter is told what the figures of this package are made of. Whoever
// implements it holds nothing up, and does nothing that could fail.
type Meter interface {
	// Announced: a transition was told in every channel, so long after it was
	// applied. What is told once more (scheduler.Resend) is not counted again.
	Announced(notice rules.Notice, after time.Duration)
	// DiscordRefused: Discord refused a message or a card for good. code is one of
	// the codes of this package.
	DiscordRefused(channel, code string)
}

// unmetered is the Meter of who counts nothing.
type unmetered struct{}

func (unmetered) Announced(rules.Notice, time.Duration) {}
func (unmetered) DiscordRefused(string, string)         {}

func (a *Announcer) meter() Meter {
	if a.Meter == nil {
		return unmetered{}
	}
	return a.Meter
}
