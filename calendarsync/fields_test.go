package calendarsync

import (
	"testing"

	"questscheduler/internal/test/roundtrip"
)

func TestWatch_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[Watch]{Through: func(w Watch) Watch {
		return decodeWatch(roundtrip.Kept(t, watchPath(w.ChannelID), roundtrip.Whole(encodeWatch(w))))
	}})
}
