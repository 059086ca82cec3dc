package plan

import (
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/rules"
)

// The private extended properties of a mirror's event. They are opaque and no part of its
// content.
const (
	MarkMirror       = "questschedulerMirror"       // Mirror.ID
	MarkInstallation = "questschedulerInstallation" // the deployment that wrote it
)

// Marks are the private extended properties of a mirror's event.
func Marks(m mirror.Mirror, installation string) map[string]string {
	return map[string]string{MarkMirror: m.ID, MarkInstallation: installation}
}

// MayBeOurs reports whether the id of an event, or of the series that it is an instance of,
// begins like a mirror's. Whose it is, Classify says.
func MayBeOurs(shown gcal.Event) bool {
	return mirror.IsMirror(shown.ID) || mirror.IsMirror(shown.InstanceOf)
}

// Class says whose an event is.
type Class string

// The classes.
const (
	// Ordinary is an event of a person: an origin of mirrors.
	Ordinary Class = "ordinary"
	// Ours is the event of a mirror, or a kept copy: a document of anybody names it for this
	// calendar, or for any if it has the mark of this installation.
	Ours Class = "ours"
	// Orphan has the mark of this installation, and no document names it in any calendar: it
	// was left over.
	Orphan Class = "orphan"
	// Copied is a mirror's event in another calendar than its own, or another installation's:
	// an event of a person of which no mirrors are made.
	Copied Class = "copied"
)

// Classify says whose an event of a calendar is. naming has the documents that name it or
// its series. A mirror is nobody's origin, also where another person's document names it,
// another account reads its calendar, or its document went: the mark of this installation
// is enough for that. An id alone proves nothing.
func Classify(shown gcal.Event, calendarID, installation string, naming mirror.Naming) Class {
	owner, marked := shown.Private[MarkInstallation], shown.Private[MarkMirror] != "" || shown.Private[MarkInstallation] != ""
	ours := marked && owner == installation
	elsewhere := naming.Anywhere(shown.ID, shown.InstanceOf)
	switch {
	case !MayBeOurs(shown):
		return Ordinary // a person who copies a mirror by hand copies its marks as well
	case naming.In(calendarID, shown.ID, shown.InstanceOf), ours && elsewhere:
		return Ours
	case ours:
		return Orphan
	case marked, elsewhere:
		return Copied
	}
	return Ordinary
}

// DeletesStray reports whether an event of a class may be deleted as a leftover. An instance
// is never deleted separately: its series is a stray too. An installation without a name
// cannot tell its events from others'.
func DeletesStray(shown gcal.Event, installation string, class Class) bool {
	return class == Orphan && shown.InstanceOf == "" && !gone(shown) && installation != ""
}

func gone(shown gcal.Event) bool { return shown.EventState == rules.Gone }
