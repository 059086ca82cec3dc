package groupevents

import (
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/roundtrip"
)

func TestGroupState_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[groupState]{Through: func(g groupState) groupState {
		return decodeState(roundtrip.Kept(t, poll.GroupStatePath(g.GroupID), roundtrip.Whole(g.encode())))
	}})
}
