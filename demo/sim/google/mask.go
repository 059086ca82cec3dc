package google

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// mask is what a request's fields parameter asks for: the fields of an object,
// each with a mask for what is inside. A nil mask asks for everything, and so
// does the name "*" at its level.
type mask map[string]mask

// maxMaskDepth is above the depth of every resource.
const maxMaskDepth = 12

// parseMask reads Google's partial-response syntax: names separated by commas,
// a/b for a field inside, a(b,c) for several.
func parseMask(text string) (mask, error) {
	if text == "" {
		return nil, nil
	}
	p := &maskParser{text: text}
	m, ok := p.list(0)
	if !ok || p.at < len(text) {
		return nil, invalidParameter("fields", "Invalid field selection "+text)
	}
	return m, nil
}

// masks remembers the masks of requests, since a client asks for the same few again and again.
// A mask is never changed once it is parsed. The zero masks is ready to use.
type masks struct {
	mu    sync.Mutex
	known map[maskOf]mask
}

// maskOf is the text of a mask, and the method that it is for.
type maskOf struct{ method, text string }

// mostMasks bounds what is remembered: a client may ask for anything.
const mostMasks = 100

// of is the mask of a text, checked against what the method answers.
func (m *masks) of(rt route, text string) (mask, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	this := maskOf{rt.name, text}
	if parsed, known := m.known[this]; known {
		return parsed, nil
	}
	parsed, err := parseMask(text)
	if err != nil {
		return nil, err
	}
	if err := parsed.check(rt.shape); err != nil {
		return nil, err
	}
	if m.known == nil || len(m.known) >= mostMasks {
		m.known = map[maskOf]mask{}
	}
	m.known[this] = parsed
	return parsed, nil
}

type maskParser struct {
	text string
	at   int
}

func (p *maskParser) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *maskParser) list(depth int) (mask, bool) {
	m := mask{}
	for {
		if !p.path(m, depth) {
			return nil, false
		}
		if !p.take(',') {
			return m, true
		}
	}
}

// path reads one name and what is inside it into m.
func (p *maskParser) path(m mask, depth int) bool {
	name := p.name()
	if name == "" || depth > maxMaskDepth {
		return false
	}
	var inner mask
	switch {
	case p.take('/'):
		inner = mask{}
		if !p.path(inner, depth+1) {
			return false
		}
	case p.take('('):
		var ok bool
		inner, ok = p.list(depth + 1)
		if !ok || !p.take(')') {
			return false
		}
	}
	m.add(name, inner)
	return true
}

// add asks for one more field; what was asked for inside it stays.
func (m mask) add(name string, inner mask) {
	old, there := m[name]
	switch {
	case !there:
		m[name] = inner
	case old == nil || inner == nil:
		m[name] = nil
	default:
		for inside, its := range inner {
			old.add(inside, its)
		}
	}
}

// shape names the fields that a mask may ask for; a nil shape takes any.
type shape map[string]shape

// check refuses names that the resource does not have, as Google does.
func (m mask) check(s shape) error {
	if s == nil {
		return nil
	}
	for _, name := range sortedKeys(m) {
		inside, known := s[name]
		if !known && name != "*" {
			return invalidParameter("fields", "Invalid field selection "+name)
		}
		if err := m[name].check(inside); err != nil {
			return err
		}
	}
	return nil
}

func (p *maskParser) name() string {
	rest := p.text[p.at:]
	end := strings.IndexFunc(rest, func(r rune) bool { return strings.ContainsRune(",/()", r) })
	if end < 0 {
		end = len(rest)
	}
	p.at += end
	return strings.TrimSpace(rest[:end])
}

// inner says whether a field is asked for, and with which mask.
func (m mask) inner(name string) (mask, bool) {
	if m == nil {
		return nil, true
	}
	if inner, ok := m[name]; ok {
		return inner, true
	}
	inner, ok := m["*"]
	return inner, ok
}

// apply keeps of an object what is asked for.
func (m mask) apply(o object) (object, error) {
	if m == nil {
		return o, nil
	}
	kept := make(object, 0, len(m))
	for _, f := range o {
		inner, ok := m.inner(f.name)
		if !ok {
			continue
		}
		value, err := inner.applyValue(f.value)
		if err != nil {
			return nil, err
		}
		kept = append(kept, field{f.name, value})
	}
	return kept, nil
}

func (m mask) applyValue(value any) (any, error) {
	if m == nil {
		return value, nil
	}
	switch v := value.(type) {
	case object:
		return m.apply(v)
	case []object:
		kept := make([]object, len(v))
		for i, o := range v {
			var err error
			kept[i], err = m.apply(o)
			if err != nil {
				return nil, err
			}
		}
		return kept, nil
	case json.RawMessage:
		dec := json.NewDecoder(bytes.NewReader(v))
		dec.UseNumber()
		var generic any
		if err := dec.Decode(&generic); err != nil {
			return nil, err
		}
		text, err := json.Marshal(m.applyGeneric(generic))
		return json.RawMessage(text), err
	default:
		return value, nil
	}
}

func (m mask) applyGeneric(value any) any {
	if m == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, inside := range v {
			if inner, ok := m.inner(name); ok {
				kept[name] = inner.applyGeneric(inside)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, inside := range v {
			kept[i] = m.applyGeneric(inside)
		}
		return kept
	default:
		return value
	}
}
