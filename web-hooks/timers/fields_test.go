package timers

import (
	"testing"

	"questscheduler/internal/test/roundtrip"
)

func TestRecord_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[Record]{Through: func(r Record) Record {
		return decode(roundtrip.Kept(t, recordPath(r.Job), roundtrip.Whole(r.encode())))
	}})
}
