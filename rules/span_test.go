package rules_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/rules"
)

func TestSpan_OutOfBounds_IsRefused(t *testing.T) {
	t.Parallel()
	first, last := time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9001, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Second)
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		start, end time.Time
		longest    time.Duration
		want       string
	}{
		"a second":         {noon, noon.Add(time.Second), 24 * time.Hour, ""},
		"the longest":      {noon, noon.Add(48 * time.Hour), 48 * time.Hour, ""},
		"longer":           {noon, noon.Add(48*time.Hour + time.Second), 48 * time.Hour, "until must be at most 2 days after from"},
		"of any length":    {first, last, 0, ""},
		"nothing":          {noon, noon, 0, "until must be after from; of whole days it is the day after the last one"},
		"backwards":        {noon, noon.Add(-time.Hour), 0, "until must be after from; of whole days it is the day after the last one"},
		"begins too early": {first.Add(-time.Second), noon, 0, "from must lie between the years 1971 and 9000"},
		"ends too late":    {noon, last.Add(time.Second), 0, "until must lie between the years 1971 and 9000"},
		"begins too early, in Asia": {
			first.Add(-time.Second).In(time.FixedZone("", 8*60*60)), noon, 0, "from must lie between the years 1971 and 9000",
		},
		"without a start": {time.Time{}, noon, 0, "from must lie between the years 1971 and 9000"},
		"without an end":  {noon, time.Time{}, 0, "until must lie between the years 1971 and 9000"},
	} {
		err := rules.Span{Start: row.start, End: row.end, StartField: "from", EndField: "until", Longest: row.longest}.Check()
		switch {
		case row.want == "" && err != nil, row.want != "" && (err == nil || err.Error() != row.want):
			t.Errorf("%s: %v, want %q", name, err, row.want)
		case row.want != "" && !fault.Is(err, fault.Invalid):
			t.Errorf("%s: a %v", name, fault.KindOf(err))
		}
	}
}
