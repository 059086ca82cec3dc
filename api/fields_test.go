package api

import (
	"testing"

	"questscheduler/internal/test/roundtrip"
)

func TestKeyRecord_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[keyRecord]{Through: func(k keyRecord) keyRecord {
		return decodeKey(roundtrip.Kept(t, k.path(), roundtrip.Whole(k.encode())))
	}})
}
