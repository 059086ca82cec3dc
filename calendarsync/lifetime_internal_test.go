package calendarsync

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// atNoon is a watcher at noon, whose address is "here".
func atNoon() *Watcher {
	return &Watcher{Address: "here", RenewBefore: 48 * time.Hour, Now: func() time.Time { return noon }}
}

// grant is a channel of ours that was granted that long ago for so long.
func grant(id string, status Status, ago, lasts time.Duration) Watch {
	granted := noon.Add(-ago)
	return Watch{ChannelID: id, Status: status, Address: "here", GrantedAt: granted, CreatedAt: granted, Expiration: granted.Add(lasts)}
}

// pending is a channel that awaits Google's answer and is replaced that long after noon.
func pending(next time.Duration) Watch {
	return Watch{ChannelID: "p", Status: Pending, Address: "here", CreatedAt: noon, Expiration: noon.Add(time.Hour), NextTry: noon.Add(next)}
}

func elsewhere(watch Watch) Watch {
	watch.Address = "elsewhere"
	return watch
}

// No channel is opened beside one that is being requested, or was granted just now.
func TestBlocked_ByAnotherChannel(t *testing.T) {
	t.Parallel()
	week := 7 * 24 * time.Hour
	for name, c := range map[string]struct {
		watches []Watch
		want    bool
	}{
		"none":                                    {nil, false},
		"one that is requested":                   {[]Watch{pending(time.Minute)}, true},
		"one that was not answered in time":       {[]Watch{pending(0)}, false},
		"one requested by a wrong clock":          {[]Watch{pending(16 * time.Minute)}, false},
		"one requested for another address":       {[]Watch{elsewhere(pending(time.Minute))}, false},
		"one that was granted now":                {[]Watch{grant("a", Active, 14*time.Minute, week)}, true},
		"one that was granted before":             {[]Watch{grant("a", Active, 15*time.Minute, week)}, false},
		"one granted by a clock that is ahead":    {[]Watch{grant("a", Active, -14*time.Minute, week)}, true},
		"one granted by a wrong clock":            {[]Watch{grant("a", Active, -15*time.Minute, week)}, false},
		"one granted for another address":         {[]Watch{elsewhere(grant("a", Active, 0, week))}, false},
		"one that was granted and ended":          {[]Watch{grant("a", Expired, 14*time.Minute, 5*time.Minute)}, true},
		"one that cannot be stopped":              {[]Watch{grant("a", Expired, 14*time.Minute, week)}, false},
		"one that is replaced":                    {[]Watch{grant("a", Retiring, time.Minute, week)}, false},
		"one that was refused":                    {[]Watch{grant("a", Failed, time.Minute, week)}, false},
		"one of another address, and one of ours": {[]Watch{elsewhere(pending(time.Minute)), pending(time.Minute)}, true},
	} {
		if got := atNoon().blocked(c.watches); got != c.want {
			t.Errorf("%s: blocked is %t, want %t", name, got, c.want)
		}
	}
}

// Grants for minutes are an error as long as no channel that lasts lives.
func TestShortGrants_AreAnError_UntilOneLasts(t *testing.T) {
	t.Parallel()
	brief, week := 15*time.Minute, 7*24*time.Hour
	for name, c := range map[string]struct {
		kept    Watch
		watches []Watch
		want    bool
	}{
		"none at all":                           {Watch{}, nil, false},
		"one that lasts":                        {grant("a", Active, 0, week), nil, false},
		"one that does not":                     {grant("a", Active, 0, brief), nil, true},
		"one that lasts, after one that ended":  {grant("a", Active, 0, week), []Watch{grant("b", Expired, time.Hour, brief)}, false},
		"one that ended":                        {Watch{}, []Watch{grant("b", Expired, time.Hour, brief)}, true},
		"one that ended, as is not noted yet":   {Watch{}, []Watch{grant("b", Active, time.Hour, brief)}, true},
		"one that ended after a week":           {Watch{}, []Watch{grant("b", Expired, 2*week, week)}, false},
		"one of another address":                {Watch{}, []Watch{elsewhere(grant("b", Expired, time.Hour, brief))}, false},
		"one that was refused":                  {Watch{}, []Watch{grant("b", Failed, time.Hour, brief)}, false},
		"one that lasted, and one that did not": {Watch{}, []Watch{grant("b", Expired, 2*week, week), grant("c", Expired, time.Hour, brief)}, true},
	} {
		if err := atNoon().shortGrants(c.kept, c.watches); (err != nil) != c.want || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v, want an error: %t", name, err, c.want)
		}
	}
}

// Every process keeps the same one of several channels, and only what it replaces is stopped.
func TestCurrent_OfSeveralChannels_IsTheLastThatLasts(t *testing.T) {
	t.Parallel()
	week, brief := 7*24*time.Hour, 10*time.Minute
	older, newer, short := grant("b", Active, 2*time.Hour, week), grant("a", Active, time.Hour, week), grant("c", Active, time.Minute, brief)
	twin := grant("z", Active, time.Hour, week)
	for name, c := range map[string]struct {
		watches []Watch
		want    string
	}{
		"none":                      {nil, ""},
		"the last":                  {[]Watch{newer, older}, "a"},
		"the last, by any order":    {[]Watch{older, newer}, "a"},
		"of one moment":             {[]Watch{twin, newer}, "z"},
		"of one moment, any order":  {[]Watch{newer, twin}, "z"},
		"the one that lasts":        {[]Watch{older, short}, "b"},
		"that lasts, any order":     {[]Watch{short, older}, "b"},
		"a brief one alone":         {[]Watch{short}, "c"},
		"none that ended":           {[]Watch{grant("e", Active, time.Hour, time.Hour)}, ""},
		"none of another address":   {[]Watch{elsewhere(newer), older}, "b"},
		"none that is replaced":     {[]Watch{grant("r", Retiring, time.Minute, week), older}, "b"},
		"none that is out of use":   {[]Watch{grant("x", Expired, time.Minute, week)}, ""},
		"the last of two brief one": {[]Watch{grant("d", Active, 5*time.Minute, brief), short}, "c"},
	} {
		if got := atNoon().current(c.watches).ChannelID; got != c.want {
			t.Errorf("%s: it is %q, want %q", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		kept, old Watch
		want      bool
	}{
		"another":                     {newer, older, true},
		"itself":                      {newer, newer, false},
		"none":                        {Watch{}, older, false},
		"a brief one that lives":      {newer, short, false},
		"a brief one that ended":      {newer, grant("d", Active, time.Hour, brief), true},
		"a brief one that is refused": {newer, grant("d", Failed, time.Minute, brief), true},
	} {
		if got := atNoon().replaces(c.kept, c.old); got != c.want {
			t.Errorf("%s: replaced is %t, want %t", name, got, c.want)
		}
	}
}

func TestRenewAt_LeavesTimeToTryAgain(t *testing.T) {
	t.Parallel()
	for lasts, want := range map[time.Duration]time.Duration{
		7 * 24 * time.Hour: 5 * 24 * time.Hour, 24 * time.Hour: 16 * time.Hour, time.Hour: 40 * time.Minute,
		20 * time.Minute: 15 * time.Minute, 5 * time.Minute: 15 * time.Minute,
	} {
		watch := grant("a", Active, 0, lasts)
		if got := atNoon().renewAt(watch).Sub(noon); got != want {
			t.Errorf("a channel of %v is renewed after %v, want %v", lasts, got, want)
		}
		watch.GrantedAt = time.Time{} // of a document from before it was stored
		if got := atNoon().renewAt(watch).Sub(noon); got != want {
			t.Errorf("a channel of %v, made at noon, is renewed after %v, want %v", lasts, got, want)
		}
	}
}

// The next try of a channel that was tried is its renewal, or soon where nothing else is planned.
func TestScheduleRetry_PlansTheNextTryOnce(t *testing.T) {
	t.Parallel()
	week := 7 * 24 * time.Hour
	due := func(watch Watch) Watch {
		watch.NextTry = noon
		return watch
	}
	for name, c := range map[string]struct {
		watch Watch
		other bool // another try of the calendar is planned
		want  any  // of nextTry; false: nothing is written
	}{
		"one that lasts":                       {due(grant("a", Active, time.Hour, week)), false, noon.Add(5*24*time.Hour - time.Hour)},
		"one that lasts, beside another":       {due(grant("a", Active, time.Hour, week)), true, noon.Add(5*24*time.Hour - time.Hour)},
		"one that should be renewed":           {due(grant("a", Active, 6*24*time.Hour, week)), false, noon.Add(time.Minute)},
		"one that should, beside another":      {due(grant("a", Active, 6*24*time.Hour, week)), true, nil},
		"one that was refused":                 {due(grant("a", Failed, time.Hour, week)), false, noon.Add(time.Minute)},
		"one that was refused, beside another": {due(grant("a", Failed, time.Hour, week)), true, nil},
		"one that is planned no more":          {grant("a", Failed, time.Hour, week), true, false},
	} {
		updates := atNoon().scheduleRetry(c.other)(c.watch)
		if c.want == false {
			if len(updates) != 0 {
				t.Errorf("%s: %v", name, updates)
			}
			continue
		}
		if !slices.EqualFunc(updates, []any{c.want}, func(u store.Update, want any) bool { return isNextTry(u) && u.Value == want }) {
			t.Errorf("%s: %v, want the next try %v", name, updates, c.want)
		}
	}
}

func TestRetryWait_DoublesUpToItsMost(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int64]time.Duration{
		0: time.Minute, 1: time.Minute, 2: 2 * time.Minute, 9: 256 * time.Minute, 10: 6 * time.Hour, 99: 6 * time.Hour,
	} {
		if got := retryWait(failures); got != want {
			t.Errorf("after %d failures it waits %v, want %v", failures, got, want)
		}
	}
}

// Of the channels that ended the last ten are kept, and no other is touched.
func TestSurplusEnded_AreThoseBeforeTheLastTen(t *testing.T) {
	t.Parallel()
	watches := []Watch{grant("live", Active, 99*time.Hour, time.Hour), grant("failed", Failed, 99*time.Hour, time.Hour)}
	for n := range 12 {
		watches = append(watches, grant(fmt.Sprintf("ended-%02d", n), Expired, time.Duration(24-n)*time.Hour, time.Hour))
	}
	var ids []string
	for _, watch := range surplusEnded(watches) {
		ids = append(ids, watch.ChannelID)
	}
	if want := []string{"ended-01", "ended-00"}; !slices.Equal(ids, want) {
		t.Errorf("they are %q, want %q", ids, want)
	}
	if got := surplusEnded(watches[:12]); len(got) != 0 {
		t.Errorf("of ten ended ones %d are too many", len(got))
	}
}
