package groupevents

import (
	"regexp"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
)

// CodeAmbiguous is the code of a reference that several events match.
const CodeAmbiguous = "ambiguous_reference"

// The words that are references of their own.
const (
	refLatest = "latest"
	refTitle  = "title"
)

const (
	idPrefix   = "evt_"
	refPrefix  = "EVT-"
	shortLen   = 8  // of a ULID, in a short reference
	fullLen    = 26 // of a ULID
	maxMatches = 10 // that an ambiguous answer names
)

var (
	shortShape = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{8}$`)
	fullShape  = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`)
)

// Ref is the short reference of an event, such as EVT-01JBZQ8F.
func Ref(eventID string) string {
	ulid := strings.TrimPrefix(eventID, idPrefix)
	return refPrefix + ulid[:min(shortLen, len(ulid))]
}

// Reference is how a person names an event of a group. One field is set beside GroupID.
type Reference struct {
	GroupID string

	ID     string // the whole id
	Prefix string // the beginning of an id
	Latest bool   // the newest event
	Title  string // part of a title, in lower case
}

// ParseReference reads a reference to an event of a group: an id with or without evt_, its first eight characters,
// the EVT- form, "latest", or "title" with a part of a title. Case does not count. NotFound:
// it can name nothing. Invalid: title belongs to the reference "title" alone.
func ParseReference(groupID, text, title string) (Reference, error) {
	title = strings.ToLower(strings.TrimSpace(title))
	word := strings.ToLower(text)
	switch {
	case word == refTitle && title == "":
		return Reference{}, fault.Field("title", "must hold a part of the event's title, since the reference is \"title\"")
	case word == refTitle:
		return Reference{GroupID: groupID, Title: title}, nil
	case title != "":
		return Reference{}, fault.Field("title", "must be left out unless the reference is \"title\"")
	case word == refLatest:
		return Reference{GroupID: groupID, Latest: true}, nil
	}
	ulid := strings.ToUpper(strings.TrimPrefix(strings.TrimPrefix(word, strings.ToLower(refPrefix)), idPrefix))
	switch {
	case fullShape.MatchString(ulid):
		return Reference{GroupID: groupID, ID: idPrefix + ulid}, nil
	case shortShape.MatchString(ulid):
		return Reference{GroupID: groupID, Prefix: idPrefix + ulid}, nil
	default:
		return Reference{}, errNoEvent()
	}
}

// Among lists the events that the reference names, newest first, of those that are given so.
func (r Reference) Among(events []mirror.Event) (matches []mirror.Event) {
	for _, e := range events {
		switch {
		case r.Latest:
			return []mirror.Event{e}
		case r.ID != "" && e.ID == r.ID,
			r.Prefix != "" && strings.HasPrefix(e.ID, r.Prefix),
			r.Title != "" && strings.Contains(strings.ToLower(e.Title), r.Title):
			matches = append(matches, e)
		}
	}
	return matches
}

// Ambiguous is the error of a reference that several events match: a Conflict with
// CodeAmbiguous. None of them was touched.
type Ambiguous struct {
	// Candidates are the newest of the events, newest first.
	Candidates []mirror.Event
	conflict   *fault.Error
}

func errAmbiguous(matches []mirror.Event) error {
	refused := fault.New(fault.Conflict, "Several events match this reference. Name one of the candidates by its id.")
	refused.Code = CodeAmbiguous
	return &Ambiguous{Candidates: matches[:min(maxMatches, len(matches))], conflict: refused}
}

// Error implements error.
func (a *Ambiguous) Error() string { return a.conflict.Error() }

// Unwrap gives the Conflict.
func (a *Ambiguous) Unwrap() error { return a.conflict }

// one is the event that a reference names among its matches.
func one(matches []mirror.Event) (mirror.Event, error) {
	switch len(matches) {
	case 0:
		return mirror.Event{}, errNoEvent()
	case 1:
		return matches[0], nil
	default:
		return mirror.Event{}, errAmbiguous(matches)
	}
}
