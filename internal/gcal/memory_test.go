package gcal

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// unrelated is a page of events that are no poll's, each with a description of a length.
func unrelated(count, length int) string {
	var page strings.Builder
	page.WriteString(`{"timeZone":"Europe/Zurich","items":[`)
	for i := range count {
		if i > 0 {
			page.WriteByte(',')
		}
		fmt.Fprintf(&page, `{"etag":"\"35000%06d\"","id":"standup%06d","status":"confirmed","updated":"2026-03-01T12:00:00.000Z",`+
			`"start":{"dateTime":"2026-03-01T14:00:00+01:00","timeZone":"Europe/Zurich"},`+
			`"end":{"dateTime":"2026-03-01T15:00:00+01:00","timeZone":"Europe/Zurich"},"description":"%s"}`, i, i, strings.Repeat("x", length))
	}
	page.WriteString("]}")
	return page.String()
}

func readPage(t *testing.T, body string, mask Mask) Page {
	t.Helper()
	answer, err := readListed(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return answer.page(mask)
}

// TestPage_UnrelatedEvents_TakeOneAllocationEach counts what a longer page takes more. It is
// not parallel: other tests would count.
func TestPage_UnrelatedEvents_TakeOneAllocationEach(t *testing.T) {
	allocations := func(events int) float64 {
		body := unrelated(events, 0)
		return testing.AllocsPerRun(10, func() { readPage(t, body, Times) })
	}
	if each := (allocations(2500) - allocations(500)) / 2000; each > 1.1 {
		t.Errorf("each of 2,500 events takes %.2f allocations", each)
	}
}

// TestPage_KeptID_KeepsNothingElseOfIt bounds what the ids of a page keep in memory. It is
// not parallel: other tests would count.
func TestPage_KeptID_KeepsNothingElseOfIt(t *testing.T) {
	const events, description = 200, 50_000
	body := unrelated(events, description)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ids := make([]string, 0, events)
	for _, event := range readPage(t, body, WithDetails).Events {
		ids = append(ids, event.ID)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / events; kept > 1000 {
		t.Errorf("each id keeps %d bytes of a page of %d bytes", kept, len(body))
	}
	runtime.KeepAlive(ids)
	runtime.KeepAlive(body)
}
