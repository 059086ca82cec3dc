package recurrence_test

import (
	"testing"
	"time"

	"questscheduler/internal/recurrence"
)

// TestAtWall_IsTheFirstInstantThatClocksShow walks through a year of zones
// with odd rules: whatever a clock shows is read as that instant, or as an
// earlier one at which it showed the same.
func TestAtWall_IsTheFirstInstantThatClocksShow(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{
		"UTC", "Europe/Zurich", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca",
		"Pacific/Chatham", "Asia/Kathmandu", "America/Santiago", "Pacific/Kiritimati",
	} {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
		for at := from; at.Before(from.AddDate(1, 0, 0)); at = at.Add(15 * time.Minute) {
			shown := at.In(location)
			wall := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), 0, 0, time.UTC)
			got := recurrence.AtWall(wall, location)
			if again := got.In(location).Format("2006-01-02T15:04:05"); got.After(at) || again != wall.Format("2006-01-02T15:04:05") {
				t.Fatalf("%s: %s is read as %s, which is %s there", zone, wall.Format("2006-01-02T15:04:05"), got, again)
			}
			if at.Sub(got) > time.Hour {
				t.Fatalf("%s: %s is read as %s, long before %s", zone, wall.Format("2006-01-02T15:04:05"), got, at)
			}
		}
	}
}
