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

// IsOrigin reports whether an event may be the origin of mirrors. An event, or an instance
// of a series, whose id is one of a mirror's never is, mapped or not: the id alone decides,
// because a person who copies a mirror by hand copies its marks as well.
func IsOrigin(shown gcal.Event) bool {
	return !mirror.IsMirror(shown.ID) && !mirror.IsMirror(shown.InstanceOf)
}

// DeletesStray reports whether an event with a mirror's id may be deleted as a leftover:
// no mirror of any owner maps it, and its mark names this installation. An instance is
// never deleted separately: its series is a stray too.
func DeletesStray(shown gcal.Event, installation string, mapped bool) bool {
	return !IsOrigin(shown) && !mapped && shown.InstanceOf == "" && !gone(shown) &&
		installation != "" && shown.Private[MarkInstallation] == installation
}

func gone(shown gcal.Event) bool { return shown.EventState == rules.Gone }
