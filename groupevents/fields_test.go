package groupevents

import (
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/roundtrip"
)

func TestShelf_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[shelf]{Through: func(h shelf) shelf {
		return decodeShelf(roundtrip.Kept(t, shelfPath(h.GroupID), roundtrip.Whole(h.encode())))
	}})
}

func TestWork_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[work]{Through: func(w work) work {
		return decodeWork(roundtrip.Kept(t, poll.GroupWorkPath(w.ID), roundtrip.Whole(w.encode())))
	}})
}
