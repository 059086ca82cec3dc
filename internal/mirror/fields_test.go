package mirror_test

import (
	"testing"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/roundtrip"
)

func TestEvent_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[mirror.Event]{Through: func(e mirror.Event) mirror.Event {
		return mirror.DecodeEvent(kept(t, mirror.EventPath(e.ID), mirror.EncodeEvent(e)))
	}})
}

func TestMirror_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[mirror.Mirror]{Through: func(m mirror.Mirror) mirror.Mirror {
		return mirror.Decode(kept(t, mirror.Path(m.ID), mirror.Encode(m)))
	}})
}

func TestPolicy_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[mirror.Policy]{Through: func(p mirror.Policy) mirror.Policy {
		return mirror.DecodePolicy(kept(t, mirror.PolicyPath(p.ID), mirror.EncodePolicy(p)))
	}})
}

func TestConnection_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[mirror.Connection]{Through: func(c mirror.Connection) mirror.Connection {
		return mirror.DecodeConnection(kept(t, mirror.ConnectionPath(c.GroupID, c.AccountID), mirror.EncodeConnection(c)))
	}})
}

func TestPerson_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[mirror.Person]{Through: func(p mirror.Person) mirror.Person {
		return mirror.DecodePerson(kept(t, mirror.PersonPath(p.OwnerID), mirror.EncodePerson(p)))
	}})
}

func TestEntry_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[mirror.JournalEntry]{Through: func(e mirror.JournalEntry) mirror.JournalEntry {
		return mirror.DecodeEntry(kept(t, mirror.EntryPath(e.EventID, e.ID), mirror.EncodeEntry(e)))
	}})
}

func kept(t *testing.T, path store.Path, data map[string]any) store.Document {
	return roundtrip.Kept(t, path, roundtrip.Whole(data))
}
