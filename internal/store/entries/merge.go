package entries

import (
	"bytes"
	"slices"

	"questscheduler/internal/store"
)

// Hit is an entry that a scan found, with its document.
type Hit struct {
	Key      []byte
	Document store.Document
}

// Compare is the order in which hits are wanted.
func (p Plan) Compare(a, b Hit) int {
	if p.Backward {
		a, b = b, a
	}
	return bytes.Compare(a.Key, b.Key)
}

// Gather answers a plan: it scans each range and merges the hits in the query's order. scan
// returns a range's hits in the order of their keys, or the opposite one, at most limit of them
// (0: all); Gather owns the list.
func (p Plan) Gather(scan func(part Range, limit int) ([]Hit, error)) ([]store.Document, error) {
	var hits []Hit
	for i, part := range p.Ranges {
		found, err := scan(part, p.Limit)
		if err != nil {
			return nil, err
		}
		for k, hit := range found {
			found[k].Key = hit.Key[part.Fixed:]
		}
		if i == 0 {
			hits = found
		} else {
			hits = append(hits, found...)
		}
	}
	if len(p.Ranges) > 1 {
		slices.SortFunc(hits, p.Compare)
	}
	if p.Limit > 0 && len(hits) > p.Limit {
		hits = hits[:p.Limit]
	}
	out := make([]store.Document, len(hits))
	for i, hit := range hits {
		out[i] = hit.Document
	}
	return out, nil
}
