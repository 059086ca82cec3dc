package dashboard

import (
	"cmp"
	"fmt"
	"slices"

	"questscheduler/internal/health"
)

// concerns are what is wrong in a view, a line for each part of the page and how
// much it wants a person, the worst first.
func concerns(v View) []Concern {
	var all []Concern
	note := func(level Level, count int, more bool, one, many, part string) {
		if count == 0 {
			return
		}
		text := one
		if count > 1 || more {
			number := fmt.Sprint(count)
			if more {
				number += " or more"
			}
			text = fmt.Sprintf(many, number)
		}
		all = append(all, Concern{Level: level, Text: text, Part: part})
	}
	note(Bad, levels(v.Watches, Bad), v.MoreFailed,
		"1 watch channel is in error or has ended", "%s watch channels are in error or have ended", "watches")
	note(Mind, levels(v.Watches, Mind), false, "1 watch channel ends soon or has no answer yet", "%s watch channels end soon or have no answer yet", "watches")
	accounts := v.everyAccount()
	note(Bad, levels(accounts, Bad), v.MoreFailing, "1 account is not in sync", "%s accounts are not in sync", "accounts")
	note(Mind, levels(accounts, Mind), v.MoreFailing, "1 account is degraded", "%s accounts are degraded", "accounts")
	note(Bad, len(v.Dead), v.MoreDead, "1 task ended as a dead letter", "%s tasks ended as dead letters", "queue")
	held := 0
	for _, calendar := range v.Held {
		held += len(calendar.Polls)
	}
	note(Bad, held, v.MoreHeld, "1 cancellation waits for a person's word", "%s cancellations wait for a person's word", "held")
	note(Bad, levels(v.Timers, Bad), false, "1 timer fails or is late", "%s timers fail or are late", "timers")
	slices.SortStableFunc(all, func(a, b Concern) int { return cmp.Compare(a.Level.rank(), b.Level.rank()) })
	return all
}

// everyAccount are the accounts of a view, each once: those of the page that is
// shown, and those that fail.
func (v View) everyAccount() []Account {
	all := slices.Clone(v.Accounts)
	for _, account := range v.Failing {
		if !slices.ContainsFunc(all, func(a Account) bool { return a.ID == account.ID }) {
			all = append(all, account)
		}
	}
	return all
}

// leveled is what has a level.
type leveled interface{ level() Level }

func (w Watch) level() Level   { return w.Level }
func (a Account) level() Level { return a.Level }
func (t Timer) level() Level   { return t.Level }

// levels counts those of a level.
func levels[T leveled](all []T, level Level) (count int) {
	for _, one := range all {
		if one.level() == level {
			count++
		}
	}
	return count
}

// levelOf is that of a status of the sync.
func levelOf(status health.Status) Level {
	switch status {
	case health.Healthy:
		return Fine
	case health.Degraded:
		return Mind
	default:
		return Bad
	}
}
