package sqlite

import (
	_ "embed"
	"encoding/binary"
	"slices"
	"sync"

	"questscheduler/internal/store/typedjson"
)

// Documents are alike: packed, they take a third. A packed text is packedMark, its length, and parts:
// bytes as they are, then a copy of what came before, which may lie in the dictionary. A part begins
// with a byte of both their lengths, four bits each.
//
//	mark │ length │ lengths │ rest of the first │ bytes │ distance │ rest of the second │ lengths │ …
//
// The last part has no copy where the text ends before it. A text that is not packed begins with '{'.
const (
	packedMark = 1
	// shortestCopy is the least that a part copies, and farthestCopy from how far before.
	shortestCopy = 4
	farthestCopy = 1<<16 - 1
	// longLength stands for lengths from there on, of which the rest follows.
	longLength = 15
	// longestText is far above what a document's text can take.
	longestText = 1 << 26
	// candidates is among how many earlier places the longest copy is looked for.
	candidates = 16
)

// dictionary stands before every text. It can never change: another one needs another mark.
//
//go:embed dictionary.txt
var dictionary []byte

// places finds earlier occurrences in the dictionary and a text behind it.
type places struct {
	text []byte
	// latest is one more than the latest place of each hash of four bytes, and before, of each
	// place, that of the place before it of its hash; 0: there is none.
	latest [1 << 12]int32
	before []int32
}

// ofDictionary are the places in the dictionary.
var ofDictionary = func() *places {
	p := &places{text: dictionary, before: make([]int32, len(dictionary))}
	for at := range len(dictionary) - shortestCopy {
		p.add(at)
	}
	return p
}()

// kept are places whose memory is used again.
var kept = sync.Pool{New: func() any {
	return &places{text: slices.Clone(ofDictionary.text), before: slices.Clone(ofDictionary.before)}
}}

func (p *places) hash(at int) uint32 {
	return binary.LittleEndian.Uint32(p.text[at:]) * 2654435761 >> 20
}

func (p *places) add(at int) {
	hash := p.hash(at)
	p.before[at], p.latest[hash] = p.latest[hash], int32(at+1)
}

// longest finds the longest copy of what stands at a place. 0: there is none.
func (p *places) longest(at int) (from, length int) {
	next := p.latest[p.hash(at)]
	for range candidates {
		place := int(next) - 1
		if place < 0 || at-place > farthestCopy {
			break
		}
		if same := common(p.text[place:], p.text[at:]); same > length {
			from, length = place, same
		}
		next = p.before[place]
	}
	if length < shortestCopy {
		return 0, 0
	}
	return from, length
}

// common is how many bytes two texts have in common at their beginning; b is the shorter.
func common(a, b []byte) int {
	for i := range b {
		if a[i] != b[i] {
			return i
		}
	}
	return len(b)
}

// encode is the form of a document in the file.
func encode(data map[string]any) ([]byte, error) {
	text, err := typedjson.Encode(data)
	if err != nil {
		return nil, err
	}
	return pack(text), nil
}

// decode is the inverse of encode.
func decode(stored []byte) (map[string]any, error) {
	text, err := unpack(stored)
	if err != nil {
		return nil, err
	}
	return typedjson.Decode(text)
}

// pack packs a text.
func pack(text string) []byte {
	begin := len(dictionary)
	p := kept.Get().(*places)
	defer kept.Put(p)
	p.latest, p.text = ofDictionary.latest, append(p.text[:begin], text...)
	p.before = slices.Grow(p.before[:begin], len(text))[:len(p.text)]
	out := binary.AppendUvarint(append(make([]byte, 0, len(text)/2+8), packedMark), uint64(len(text)))
	plain := begin // from there on nothing is packed yet
	for at := begin; at+shortestCopy <= len(p.text); {
		from, length := p.longest(at)
		if length == 0 {
			p.add(at)
			at++
			continue
		}
		out = appendPart(out, p.text[plain:at], at-from, length)
		for end := at + length; at < end; at++ {
			if at+shortestCopy <= len(p.text) {
				p.add(at)
			}
		}
		plain = at
	}
	if plain < len(p.text) {
		out = appendPart(out, p.text[plain:], 0, shortestCopy)
	}
	return out
}

// appendPart appends a part; one of distance 0 has no copy.
func appendPart(out, plain []byte, distance, length int) []byte {
	first, second := len(plain), length-shortestCopy
	out = append(out, byte(min(first, longLength)<<4|min(second, longLength)))
	out = append(appendRest(out, first), plain...)
	if distance == 0 {
		return out
	}
	return appendRest(binary.LittleEndian.AppendUint16(out, uint16(distance)), second)
}

func appendRest(out []byte, length int) []byte {
	if length < longLength {
		return out
	}
	return binary.AppendUvarint(out, uint64(length-longLength))
}
