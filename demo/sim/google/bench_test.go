package google_test

import (
	"fmt"
	"testing"

	"questscheduler/demo/sim/google"
)

// BenchmarkList2500 is one page of 2,500 events of a calendar of 10,000, whole
// and through the mask of a sync.
func BenchmarkList2500(b *testing.B) {
	sim, err := google.New(google.Options{Sequential: true})
	if err != nil {
		b.Fatal(err)
	}
	grant, err := sim.AddUser(people[0])
	if err != nil {
		b.Fatal(err)
	}
	const path = "/calendar/v3/calendars/primary/events"
	for i := range 10_000 {
		body := fmt.Sprintf(
			`{"id":"qs%05d","summary":"Session","start":{"dateTime":"2026-03-06T19:00:00Z"},"end":{"dateTime":"2026-03-06T20:00:00Z"}}`,
			i,
		)
		if status := serve(b, sim.Handler(), grant.AccessToken, "POST", path, body); status != 200 {
			b.Fatal(status)
		}
	}
	for name, query := range map[string]string{
		"whole":  "?maxResults=2500",
		"masked": "?maxResults=2500&fields=nextPageToken,nextSyncToken,accessRole,items(id,status,etag,updated,start,end,recurrence,recurringEventId)",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if status := serve(b, sim.Handler(), grant.AccessToken, "GET", path+query, ""); status != 200 {
					b.Fatal(status)
				}
			}
		})
	}
}
