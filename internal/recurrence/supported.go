package recurrence

import rrule "github.com/teambition/rrule-go"

// unsupported says why a rule is not expanded, or "". It refuses what RFC 5545 forbids or
// leaves open, what the library gets wrong, and what would keep it busy, without an end or
// with too much memory, in a single step.
func (p *pattern) unsupported(o *rrule.ROption) string {
	times := max(1, len(o.Byhour)) * max(1, len(o.Byminute)) * max(1, len(o.Bysecond))
	switch {
	case o.Freq > rrule.HOURLY || times > 24:
		return "the series recurs more often than hourly"
	case o.Freq == rrule.HOURLY && len(o.Byhour)+len(o.Bysetpos) > 0:
		return "hourly rules for certain hours are not supported"
	case p.allDay && (o.Freq == rrule.HOURLY || len(o.Byhour)+len(o.Byminute)+len(o.Bysecond) > 0):
		return "an all-day series recurs at times of the day"
	case o.Interval > maxInterval:
		return "the interval of the rule is out of range"
	case len(o.Byeaster) > 0 || len(o.Bysetpos) > 31:
		return "the rule has a part that is not supported"
	case len(o.Byweekno) > 0 && (o.Freq != rrule.YEARLY || len(o.Byweekday) == 0):
		return "weeks of the year need a yearly rule with weekdays"
	case !numbersFit(o):
		return "the numbers of the rule's weekdays are out of range"
	}
	return ""
}

// numbersFit reports whether all weekdays or none are numbered (2MO), within their month
// or year. The library takes others for an index without a check, or ignores them.
func numbersFit(o *rrule.ROption) bool {
	most := 0
	switch {
	case o.Freq == rrule.MONTHLY || o.Freq == rrule.YEARLY && len(o.Bymonth) > 0:
		most = 5
	case o.Freq == rrule.YEARLY && len(o.Byweekno) == 0:
		most = 53
	}
	for _, day := range o.Byweekday {
		n := day.N()
		if n > most || n < -most || (n == 0) != (o.Byweekday[0].N() == 0) {
			return false
		}
	}
	return true
}
