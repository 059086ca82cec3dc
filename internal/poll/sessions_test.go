package poll_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

func TestStarting_ListsWhatStartsInTheTime(t *testing.T) {
	t.Parallel()
	documents := open(t)
	at := func(text string) time.Time {
		instant, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return instant
	}
	days := func(from, to string) rules.Fingerprint {
		whole, err := rules.Days(from, to)
		if err != nil {
			t.Fatal(err)
		}
		return whole
	}
	hour := func(text string) rules.Fingerprint { return rules.Timed(at(text), at(text).Add(time.Hour)) }
	for id, row := range map[string]struct {
		status string
		when   rules.Fingerprint
	}{
		"1 before":            {"FINALIZED", hour("2026-03-08T09:59:59Z")},
		"2 the day before":    {"FINALIZED", days("2026-03-07", "2026-03-09")},
		"3 at once":           {"FINALIZED", hour("2026-03-08T12:00:00+02:00")},
		"4 cancelled":         {"CANCELLED", hour("2026-03-08T11:00:00Z")},
		"5 the whole day":     {"FINALIZED", days("2026-03-08", "2026-03-09")},
		"6 at the end":        {"FINALIZED", hour("2026-03-10T09:59:59Z")},
		"7 after the end":     {"FINALIZED", hour("2026-03-10T10:00:00Z")},
		"8 the last day":      {"FINALIZED", days("2026-03-10", "2026-03-11")},
		"9 the day after":     {"FINALIZED", days("2026-03-11", "2026-03-12")},
		"a without a session": {"FINALIZED", rules.Fingerprint{}},
	} {
		data := poll.New(poll.Poll{ID: id, CreatorID: "gm", CreatedAt: moment})
		data["status"], data["calendarSync"] = row.status, map[string]any{"lastEventFingerprint": store.NullIfEmpty(row.when.String())}
		put(t, documents, poll.Path(id), data)
	}
	for _, limit := range []int{1, 3, 100} {
		var got []string
		for part, more := (store.Paging{Limit: limit}), true; more; more = part.After != nil {
			polls, next, err := poll.Starting(t.Context(), documents, at("2026-03-08T10:00:00Z"), at("2026-03-10T10:00:00Z"), part)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range polls {
				got = append(got, p.ID)
			}
			part.After = next
		}
		same(t, fmt.Sprintf("%d at a time", limit), got, []string{"3 at once", "5 the whole day", "6 at the end", "8 the last day"})
	}
}
