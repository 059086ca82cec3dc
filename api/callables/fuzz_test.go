package callables

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
)

// Whatever is sent as a finalisation is refused, or asks for something that can
// be carried out.
func FuzzReadFinalise(f *testing.F) {
	for _, seed := range []string{
		`{"data":{"schedulerId":"p","slotId":"s","durationMinutes":90.5,"attendees":["a@b.c"],"deleteOldEvent":true}}`,
		`{"data":null}`, `{"data":{"schedulerId":7}}`, `{"data":{"schedulerId":"a/b","slotId":".."}}`, `{"data":{"attendees":[[]]}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		data, err := read(body, "application/json")
		if err != nil {
			return
		}
		pollID, ask, err := readFinalise(data)
		if err != nil {
			if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.NotFound {
				t.Errorf("%q is refused with %v", body, err)
			}
			return
		}
		if poll.SlotPath(pollID, ask.SlotID).Valid() != nil || ask.Duration < 0 || ask.Duration > 31*24*time.Hour ||
			len(ask.Attendees) > maxAttendees {
			t.Errorf("%q asks for %q: %+v", body, pollID, ask)
		}
	})
}
