package calendarsync

import (
	"testing"
	"time"
)

func TestRefusal_ByListAndAge_IsALoss(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		refusal
		want bool
	}{
		"the list lacks it":                           {refusal{refused: true, listed: listLacks}, true},
		"the list lacks it, again":                    {refusal{refused: true, listed: listLacks, since: now.Add(-time.Hour)}, true},
		"the list lacks it, by a clock that is ahead": {refusal{refused: true, listed: listLacks, since: now.Add(time.Minute)}, true},
		"the list names it":                           {refusal{refused: true, listed: listNames}, false},
		"the list names it for a day":                 {refusal{refused: true, listed: listNames, since: now.Add(-24 * time.Hour)}, false},
		"no list is granted":                          {refusal{refused: true, listed: listWithheld}, false},
		"no list is granted, minutes later": {
			refusal{refused: true, listed: listWithheld, since: now.Add(time.Second - 10*time.Minute)}, false,
		},
		"no list is granted, ten minutes later": {refusal{refused: true, listed: listWithheld, since: now.Add(-10 * time.Minute)}, true},
		"the list is not read":                  {refusal{refused: true, listed: listUnread, since: now.Add(-24 * time.Hour)}, false},
		"nothing was refused":                   {refusal{listed: listLacks, since: now.Add(-24 * time.Hour)}, false},
		"it was lost, and Google is out":        {refusal{known: true}, true},
		"it was lost, and is listed":            {refusal{known: true, refused: true, listed: listNames}, true},
	} {
		c.now = now
		if got := c.lost(); got != c.want {
			t.Errorf("%s: lost is %t, want %t", name, got, c.want)
		}
	}
}
