package store

import (
	"slices"
	"strings"
	"unicode/utf8"

	"questscheduler/fault"
)

// Path is a document's path: alternating collection names and ids, joined by slashes.
type Path string

// Doc joins the parts of a path: Doc("schedulers", id, "slots", slotID). Drivers check it
// with Valid.
func Doc(parts ...string) Path { return Path(strings.Join(parts, "/")) }

// Doc is the path of a document in a collection of the document at p.
func (p Path) Doc(collection, id string) Path {
	return p + Path("/"+collection+"/"+id)
}

// ID is the last part of the path.
func (p Path) ID() string {
	return string(p[strings.LastIndexByte(string(p), '/')+1:])
}

// Collection is the name of the document's collection.
func (p Path) Collection() string {
	rest := p.parentCollection()
	return rest[strings.LastIndexByte(rest, '/')+1:]
}

// Parent is the path of the document that holds the collection, or "" at the top level.
func (p Path) Parent() Path {
	rest := p.parentCollection()
	if i := strings.LastIndexByte(rest, '/'); i >= 0 {
		return Path(rest[:i])
	}
	return ""
}

// Below reports whether p lies below the document at root, at any depth.
func (p Path) Below(root Path) bool { return strings.HasPrefix(string(p), string(root)+"/") }

func (p Path) parentCollection() string {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return ""
	}
	return string(p[:i])
}

// Valid is Invalid where p cannot be a document's path.
func (p Path) Valid() error {
	if strings.Count(string(p), "/")%2 == 0 || len(p) > 6144 {
		return fault.New(fault.Invalid, "a document path needs an even number of parts and at most 6144 bytes")
	}
	if !utf8.ValidString(string(p)) {
		return fault.New(fault.Invalid, "a document path is not UTF-8")
	}
	for part := range strings.SplitSeq(string(p), "/") {
		if badPart(part) {
			return fault.New(fault.Invalid, "a document path has an empty, reserved or over-long part")
		}
	}
	return nil
}

// badPart follows Firestore's limits on collection and document ids.
func badPart(part string) bool {
	return part == "" || part == "." || part == ".." || len(part) > 1500 ||
		(len(part) > 3 && strings.HasPrefix(part, "__") && strings.HasSuffix(part, "__"))
}

// FieldPath names a field, one name for each level. It is not a dotted string, since names
// may contain dots and hyphens.
type FieldPath []string

// Field makes a field path.
func Field(names ...string) FieldPath { return names }

// String is for messages.
func (f FieldPath) String() string { return strings.Join(f, ".") }

// HasPrefix reports whether f is prefix or lies below it.
func (f FieldPath) HasPrefix(prefix FieldPath) bool {
	return len(f) >= len(prefix) && slices.Equal(f[:len(prefix)], prefix)
}

// Lookup finds a field in nested maps; ok is false where it is absent. A null field exists.
func (f FieldPath) Lookup(data map[string]any) (value any, ok bool) {
	value = data
	for _, name := range f {
		level, isMap := value.(map[string]any)
		if !isMap {
			return nil, false
		}
		value, ok = level[name]
		if !ok {
			return nil, false
		}
	}
	return value, len(f) > 0
}
