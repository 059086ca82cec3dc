package memorystore

import (
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// OpenShared is Open for simulations, where copying is most of a store's work: reads return
// the stored fields themselves, which later writes do not change. Callers must not change
// them either; Touched detects it.
func OpenShared(queries []*store.Query) (*Store, error) {
	s, err := Open(queries)
	if err != nil {
		return nil, err
	}
	s.shared = true
	return s, nil
}

// Changed lists, sorted, the documents whose data a caller changed after reading it, also
// where they were written or deleted afterwards.
func (s *Store) Changed() []store.Path {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.documents {
		s.examine(path)
	}
	return slices.Sorted(maps.Keys(s.touched))
}

// examine records a document that differs from what was written. The lock is held.
func (s *Store) examine(path store.Path) {
	if doc, kept := s.documents[path]; s.shared && kept && digest(doc.fields) != doc.digest {
		s.touched[path] = true
	}
}

// give is what a read returns of a stored document.
func (s *Store) give(fields map[string]any) map[string]any {
	if s.shared {
		return fields
	}
	return txn.Copy(fields)
}

var seed = maphash.MakeSeed()

// digest is a hash of a normalised value, independent of the order of maps.
func digest(value any) uint64 {
	switch v := value.(type) {
	case bool:
		if v {
			return mix(1)
		}
		return mix(2)
	case int64:
		return mix(uint64(v) ^ 3<<60)
	case float64:
		return mix(math.Float64bits(v) ^ 5<<60)
	case time.Time:
		return mix(uint64(v.UnixMicro()) ^ 7<<60)
	case string:
		return maphash.String(seed, v)
	case []any:
		sum := mix(uint64(len(v)))
		for _, item := range v {
			sum = mix(sum + digest(item))
		}
		return sum
	case map[string]any:
		sum := mix(^uint64(len(v)))
		for name, field := range v {
			sum += mix(maphash.String(seed, name) + mix(digest(field)))
		}
		return sum
	default: // nil
		return 0
	}
}

// mix spreads a number over all bits, as the finaliser of SplitMix64 does.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
