package google

// access says who sets a field of an event.
type access uint8

const (
	// readOnly: Google alone; what a request says is passed over.
	readOnly access = iota
	// atInsert: the request that makes the event, and none after it.
	atInsert
	// writable: every write. Null removes it, update removes it by silence.
	writable
	// computed: kept beside the fields and rendered from there.
	computed
)

// eventField is one field of the Event resource.
type eventField struct {
	name   string
	access access
	// personal: each attendee's calendar has its own; it is not copied.
	personal bool
}

// eventFields are all fields of the resource, in the order of an answer.
var eventFields = []eventField{
	{name: "kind", access: computed},
	{name: "etag", access: computed},
	{name: "id", access: computed},
	{name: "status", access: writable},
	{name: "htmlLink", access: computed},
	{name: "created", access: computed},
	{name: "updated", access: computed},
	{name: "summary", access: writable},
	{name: "description", access: writable},
	{name: "location", access: writable},
	{name: "colorId", access: writable, personal: true},
	{name: "eventLabelId", access: writable, personal: true},
	{name: "creator", access: computed},
	{name: "organizer", access: computed},
	{name: "start", access: computed},
	{name: "end", access: computed},
	{name: "endTimeUnspecified", access: readOnly},
	{name: "recurrence", access: writable},
	{name: "recurringEventId", access: computed},
	{name: "originalStartTime", access: computed},
	{name: "transparency", access: writable, personal: true},
	{name: "visibility", access: writable, personal: true},
	{name: "iCalUID", access: atInsert},
	{name: "sequence", access: writable},
	{name: "attendees", access: writable},
	{name: "attendeesOmitted", access: readOnly},
	{name: "extendedProperties", access: writable},
	{name: "hangoutLink", access: readOnly},
	{name: "conferenceData", access: writable},
	{name: "gadget", access: writable},
	{name: "anyoneCanAddSelf", access: writable},
	{name: "guestsCanInviteOthers", access: writable},
	{name: "guestsCanModify", access: writable},
	{name: "guestsCanSeeOtherGuests", access: writable},
	{name: "privateCopy", access: atInsert},
	{name: "locked", access: readOnly},
	{name: "reminders", access: writable, personal: true},
	{name: "source", access: writable},
	{name: "attachments", access: writable},
	{name: "eventType", access: atInsert},
	{name: "birthdayProperties", access: atInsert},
	{name: "focusTimeProperties", access: writable},
	{name: "outOfOfficeProperties", access: writable},
	{name: "workingLocationProperties", access: writable},
}

// personalFields are the names of those that are not copied.
var personalFields = func() map[string]bool {
	names := map[string]bool{}
	for _, f := range eventFields {
		if f.personal {
			names[f.name] = true
		}
	}
	return names
}()

// entryShape is what a fields mask may ask of a calendar in the list of them.
var entryShape = func() shape {
	s := shape{}
	for _, name := range []string{
		"accessRole", "autoAcceptInvitations", "backgroundColor", "colorId", "conferenceProperties", "dataOwner",
		"defaultReminders", "deleted", "description", "etag", "foregroundColor", "hidden", "id", "kind", "location",
		"notificationSettings", "primary", "selected", "summary", "summaryOverride", "timeZone",
	} {
		s[name] = nil
	}
	return s
}()

// entriesShape is what one may ask of the list.
var entriesShape = shape{"etag": nil, "items": entryShape, "kind": nil, "nextPageToken": nil, "nextSyncToken": nil}

// eventShape is what a fields mask may ask of an event.
var eventShape = func() shape {
	s := shape{}
	for _, f := range eventFields {
		s[f.name] = nil
	}
	return s
}()
