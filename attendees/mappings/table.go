package mappings

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Mapping is a primary address with its secondary ones, all in lower case.
type Mapping struct {
	Primary     string   `json:"p"`
	Secondaries []string `json:"s"` // sorted, each once
	State       State    `json:"state,omitempty"`
}

// State is how far a mapping of an earlier version was carried out.
type State string

// The states. No version that is loaded has another than Settled, so each next one differs there.
const (
	Settled   State = ""
	Unsettled State = "unsettled" // a version was replaced while it was carried out
	Leaving   State = "leaving"   // no longer mapped; the account is still needed
)

// Table holds the mappings of a version. It is never changed; the zero Table is empty.
type Table struct {
	secondaries map[string][]string
	// states are those that are not Settled.
	states map[string]State
	// named are all of its second addresses.
	named   map[string]bool
	domains []string
	version string
}

// NewTable is the table of some mappings; of two with one primary the last counts.
func NewTable(mappings []Mapping) Table {
	t := Table{secondaries: make(map[string][]string, len(mappings)), states: map[string]State{}, named: map[string]bool{}}
	for _, m := range mappings {
		list := make([]string, len(m.Secondaries))
		for i, address := range m.Secondaries {
			list[i] = Fold(address)
		}
		slices.Sort(list)
		t.secondaries[Fold(m.Primary)] = slices.Compact(list)
		delete(t.states, Fold(m.Primary))
		if m.State != Settled {
			t.states[Fold(m.Primary)] = m.State
		}
	}
	for _, list := range t.secondaries {
		for _, address := range list {
			t.named[address] = true
		}
	}
	if len(t.secondaries) > 0 {
		t.version = t.hash()
	}
	return t
}

// hash names the content.
func (t Table) hash() string {
	sum := sha256.New()
	var line []byte
	for _, primary := range t.Primaries() {
		line = append(line[:0], primary...)
		for _, secondary := range t.secondaries[primary] {
			line = append(append(line, ','), secondary...)
		}
		if state := t.states[primary]; state != Settled {
			line = append(append(line, '!'), state...)
		}
		sum.Write(append(line, '\n'))
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// Fold is an address as addresses are compared: without case and surrounding space.
func Fold(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

// Secondaries are the further addresses of an address; nil if it is no primary one.
func (t Table) Secondaries(address string) []string { return t.secondaries[Fold(address)] }

// Maps reports whether an address is a primary one with second addresses.
func (t Table) Maps(address string) bool { return len(t.Secondaries(address)) > 0 }

// State is how far the mapping of an address was carried out.
func (t Table) State(address string) State { return t.states[Fold(address)] }

// Within is the table with the domains of primary addresses, for Knows. They are no part of
// its version.
func (t Table) Within(domains []string) Table {
	t.domains = domains
	return t
}

// Names reports whether the table has an address, as a primary or as a second one.
func (t Table) Names(address string) bool { return t.Maps(address) || t.named[Fold(address)] }

// Knows reports whether an address is one of our people's: it is in one of the domains of
// Within, whether it is mapped or not, or the table names it. A subdomain is another domain.
func (t Table) Knows(address string) bool {
	address = Fold(address)
	inDomain := func(domain string) bool { return Fold(domain) == domainOf(address) }
	return strings.Contains(address, "@") && (t.Names(address) || slices.ContainsFunc(t.domains, inDomain))
}

// Primaries lists the primary addresses, sorted.
func (t Table) Primaries() []string { return slices.Sorted(maps.Keys(t.secondaries)) }

// Mappings lists the mappings by primary address.
func (t Table) Mappings() []Mapping {
	list := make([]Mapping, 0, len(t.secondaries))
	for _, primary := range t.Primaries() {
		list = append(list, Mapping{Primary: primary, Secondaries: t.secondaries[primary], State: t.states[primary]})
	}
	return list
}

// Len is the number of mappings.
func (t Table) Len() int { return len(t.secondaries) }

// Version names the content: equal tables have one version. That of the empty one is "".
func (t Table) Version() string { return t.version }

// Changed lists the primary addresses that were added, were removed, have other secondary ones, or
// another State, sorted.
func Changed(before, now Table) (primaries []string) {
	for primary, secondaries := range now.secondaries {
		if old, known := before.secondaries[primary]; !known || !slices.Equal(old, secondaries) ||
			before.states[primary] != now.states[primary] {
			primaries = append(primaries, primary)
		}
	}
	for primary := range before.secondaries {
		if _, kept := now.secondaries[primary]; !kept {
			primaries = append(primaries, primary)
		}
	}
	slices.Sort(primaries)
	return primaries
}

// Lost counts the pairs of a primary and a secondary address that before has, and those of
// them that now lacks.
func Lost(before, now Table) (lost, of int) {
	for primary, secondaries := range before.secondaries {
		for _, secondary := range secondaries {
			of++
			if !slices.Contains(now.secondaries[primary], secondary) {
				lost++
			}
		}
	}
	return lost, of
}

// Gained counts the pairs that now has and before lacks, and the primary addresses that have
// them.
func Gained(before, now Table) (pairs, primaries int) {
	for primary, secondaries := range now.secondaries {
		old := before.secondaries[primary]
		more := 0
		for _, secondary := range secondaries {
			if !slices.Contains(old, secondary) {
				more++
			}
		}
		pairs += more
		if more > 0 {
			primaries++
		}
	}
	return pairs, primaries
}

// compressors are for Encode: each takes 800 KB of memory, which is most of the work of a small table.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// Encode is the table as bytes, compressed.
func (t Table) Encode() ([]byte, error) {
	var out bytes.Buffer
	compressed := compressors.Get().(*gzip.Writer)
	defer compressors.Put(compressed)
	compressed.Reset(&out)
	if err := json.NewEncoder(compressed).Encode(t.Mappings()); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// DecodeTable reads what Encode wrote; bytes that were cut or changed are an error.
func DecodeTable(encoded []byte) (Table, error) {
	compressed, err := gzip.NewReader(bytes.NewReader(encoded))
	if err != nil {
		return Table{}, err
	}
	text, err := io.ReadAll(compressed) // to the end, where the checksum is
	if err != nil {
		return Table{}, err
	}
	var mappings []Mapping
	if err := json.Unmarshal(text, &mappings); err != nil {
		return Table{}, err
	}
	return NewTable(mappings), nil
}
