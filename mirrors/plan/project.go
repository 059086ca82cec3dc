package plan

import (
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
)

// Project returns what the mirror of an event shows. BUSY is the times alone, as is every
// detail for a private or confidential event. No mirror has guests, a conference or
// reminders, which gcal.Content cannot express. event may be an exception: its content is
// that of the instance.
func Project(event mirror.Event, detail mirror.Detail) gcal.Content { panic("unwritten") }

// Shown returns the content of an event in a calendar, as Project would have written it:
// Hash(Shown(answer)) equals Hash(content) for the answer to a write of content, unless
// Google changes the text.
func Shown(details gcal.Details) gcal.Content { panic("unwritten") }

// Hash identifies a content.
func Hash(content gcal.Content) string { panic("unwritten") }
