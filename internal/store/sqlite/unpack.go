package sqlite

import (
	"encoding/binary"
	"errors"
)

var errPacked = errors.New("a packed document is damaged")

// unpack is the inverse of pack, and gives back a text that is not packed.
func unpack(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packedMark {
		return stored, nil
	}
	in := packed{rest: stored[1:]}
	size := in.number()
	if in.damaged || size > longestText {
		return nil, errPacked
	}
	out := make([]byte, 0, size)
	for len(out) < size && !in.damaged {
		lengths := int(in.take(1)[0])
		out = append(out, in.take(in.length(lengths>>4))...)
		if len(out) >= size {
			break
		}
		from := len(out) - int(binary.LittleEndian.Uint16(in.take(2)))
		length := in.length(lengths&longLength) + shortestCopy
		if from == len(out) || from < -len(dictionary) || length > size-len(out) {
			return nil, errPacked
		}
		out = appendCopy(out, from, length)
	}
	if in.damaged || len(out) != size || len(in.rest) > 0 {
		return nil, errPacked
	}
	return out, nil
}

// appendCopy appends what begins at a place of the text, below zero of the dictionary before it. A
// copy may go into what it appends.
func appendCopy(out []byte, from, length int) []byte {
	if from < 0 {
		there := dictionary[len(dictionary)+from:]
		part := min(length, len(there))
		out, from, length = append(out, there[:part]...), 0, length-part
	}
	for length > 0 {
		part := min(length, len(out)-from)
		out, from, length = append(out, out[from:from+part]...), from+part, length-part
	}
	return out
}

// packed reads parts of a packed text. Behind its end everything is zero, and damaged.
type packed struct {
	rest    []byte
	damaged bool
}

func (p *packed) take(count int) []byte {
	if count > len(p.rest) {
		p.damaged, p.rest = true, nil
		return make([]byte, min(count, 2))
	}
	taken := p.rest[:count]
	p.rest = p.rest[count:]
	return taken
}

func (p *packed) number() int {
	value, width := binary.Uvarint(p.rest)
	if width <= 0 || value > longestText {
		p.damaged = true
		return 0
	}
	p.rest = p.rest[width:]
	return int(value)
}

// length reads what is left of a length of four bits.
func (p *packed) length(bits int) int {
	if bits < longLength {
		return bits
	}
	return longLength + p.number()
}
