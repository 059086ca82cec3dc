package groupevents

import (
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/roundtrip"
)

func TestGroupState_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[groupState]{Through: func(g groupState) groupState {
		return decodeState(roundtrip.Kept(t, statePath(g.GroupID), roundtrip.Whole(g.encode())))
	}})
}

func TestWork_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[work]{Through: func(w work) work {
		return decodeWork(roundtrip.Kept(t, poll.GroupWorkPath(w.ID), roundtrip.Whole(w.encode())))
	}})
}
