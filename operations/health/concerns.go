package health

import "fmt"

// Concern is a line about what needs a person.
type Concern struct {
	Level Level
	Text  string
	// Part is the part of the overview that it is about.
	Part string
}

// concerns lists the troubles of an overview, one line for each part and level, worst
// first.
func concerns(o Overview) (all []Concern) {
	held := 0
	for _, calendar := range o.Held {
		held += len(calendar.Polls)
	}
	channels := func(level Level) int { return count(o.Channels, func(c Channel) bool { return c.Level == level }) }
	accounts := func(level Level) int {
		return count(o.everyAccount, func(a Account) bool { return a.Status.Level() == level })
	}
	troubles := func(level Level) int {
		return count(o.Attendees.Troubles, func(t Trouble) bool { return t.Status.Level() == level })
	}
	for _, row := range []struct {
		part      string
		level     Level
		count     int
		more      bool
		one, many string
	}{
		{
			"watches", Bad, channels(Bad), o.MoreRefused, "1 watch channel is in error or has ended",
			"%s watch channels are in error or have ended",
		},
		{"accounts", Bad, accounts(Bad), o.MoreFailing, "1 account is not in sync", "%s accounts are not in sync"},
		{"work", Bad, len(o.FailingWork), o.MoreFailingWork, "1 piece of work keeps failing", "%s pieces of work keep failing"},
		{"held", Bad, held, o.MoreHeld, "1 cancellation awaits confirmation", "%s cancellations await confirmation"},
		{
			"timers", Bad, count(o.Jobs, func(j Job) bool { return j.Level == Bad }), false, "1 timer fails or is late",
			"%s timers fail or are late",
		},
		{"mirrors", Mind, len(o.Mirrors.Failed), o.Mirrors.MoreFailed, "1 mirror cannot be written", "%s mirrors cannot be written"},
		{
			"attendees", Bad, troubles(Bad), false, "1 problem keeps second addresses from being added",
			"%s problems keep second addresses from being added",
		},
		{"attendees", Mind, troubles(Mind), false, "1 problem with second addresses", "%s problems with second addresses"},
		{
			"watches", Mind, channels(Mind), false, "1 watch channel ends soon or has no answer yet",
			"%s watch channels end soon or have no answer yet",
		},
		{"accounts", Mind, accounts(Mind), o.MoreFailing, "1 account is degraded", "%s accounts are degraded"},
	} {
		number := fmt.Sprint(row.count)
		if row.more {
			number += " or more"
		}
		switch {
		case row.count == 0:
		case number == "1":
			all = append(all, Concern{Level: row.level, Text: row.one, Part: row.part})
		default:
			all = append(all, Concern{Level: row.level, Text: fmt.Sprintf(row.many, number), Part: row.part})
		}
	}
	return all
}

// count is how many of all are so.
func count[T any](all []T, is func(T) bool) (number int) {
	for _, one := range all {
		if is(one) {
			number++
		}
	}
	return number
}
