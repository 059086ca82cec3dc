package recurrence

import (
	"fmt"
	"testing"
	"time"
)

// The library searches to the year 9999: a rule that never fits costs it what the years
// until then cost.
func TestRule_IsGenerated_NearTheLastYear(t *testing.T) {
	t.Parallel()
	for year := 1; year < 9999; year++ {
		date := fmt.Sprintf("%04d-02-28", year)
		p, err := read(Series{Start: Moment{Date: date}, End: Moment{Date: date}, Lines: []string{"RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"}})
		if err != nil {
			t.Fatal(err)
		}
		start := p.rule.GetDTStart()
		left := 9999 - start.Year()
		if left >= mostYears+400 || left < min(mostYears, 9999-year) {
			t.Fatalf("a rule from %d has %d years to search", year, left)
		}
		if same := later(start, -p.cycles); !same.Equal(p.first) || start.Weekday() != p.first.Weekday() {
			t.Fatalf("%s is generated from %s, and read as %s", date, start, same)
		}
	}
	if day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC); !later(later(day, 19), -19).Equal(day) {
		t.Error("a leap day did not return")
	}
}
