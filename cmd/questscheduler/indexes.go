package main

import (
	"slices"

	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
)

// exempt are the fields that Firestore does not index on its own: values that only
// grow, since an index of them limits a collection to 500 writes a second, and values
// that are large or have their own names for each event or user. Of the documents
// that the web app queries too, only fields that it cannot query are listed.
var exempt = slices.Concat(
	exemptions("journal", "trace", "fence", "observation", "result", "reason"),
	exemptions("calendarSyncSnapshots", "votes", "participants", "pendingInvites", "createdAt"),
	exemptions("announcements", "wanted", "announced", "channels", "due", "againAt", "failures", "cardRef", "cardTrace", "cardBegun"),
	exemptions("intents", "session", "asked", "failedSince", "error", "trace", "until", "createdAt"),
	exemptions("calendarEventIndex", "createdAt"),
	exemptions("calendarWatches", "address", "tokenHash", "grantedAt", "createdAt", "updatedAt"),
	exemptions("calendars", "syncToken", "linkedAt", "syncAsked", "syncCause", "syncTrace", "syncAttempts", "sweepFailures",
		"sweepTrace", "fence", "startedAt", "lastSyncedAt", "lastSuccessAt", "lastError",
		"legacyEventIds", "deferred", "relist"),
	exemptions("accounts", "attempts", "failedSince", "error", "updatedAt"),
	exemptions("accountSecrets", "refreshToken", "updatedAt"),
	exemptions("idempotencyKeys", "body", "data", "createdAt", "leaseUntil"),
	exemptions("schedulers", "description"),
	[]firestore.Exemption{
		{Collection: "schedulers", Path: store.Field("calendarSync", "lastSyncedAt")},
		{Collection: "schedulers", Path: store.Field("calendarSync", "observedUpdated")},
		{Collection: "schedulers", Path: store.Field("calendarSync", "recorded", "at")},
	},
	exemptions("notifications", "body", "metadata"),
	exemptions("canonicalEvents", "title", "description", "location", "start", "end", "recurrence", "originalStart",
		"organizer", "etag", "updated", "version", "rounds", "planTrace", "updatedAt"),
	exemptions("mirrors", "wanted", "written", "answered", "etag", "generation", "attempts", "lastError", "lastWrite",
		"reverts", "notBefore", "trace",
		"failedSince", "deletedAt", "createdAt", "updatedAt"),
	exemptions("mirrorJournal", "trigger", "trace", "step", "mirrorId", "targetAccountId", "before", "after", "reason",
		"generation", "wanted", "written", "attempts"),
	exemptions("mirrorPolicies", "edges", "createdAt", "updatedAt"),
	exemptions("mirrorPeople", "overlays", "planAfter", "planGeneration", "planFailures", "planFailedSince",
		"planError", "planTrace", "updatedAt"),
	exemptions("groupEvents", "recent", "older", "shareSessions", "authors"),
	exemptions("attendeeEvents", "copies", "entries", "inherited", "since", "version", "trace", "failures", "missing", "failedSince",
		"error", "history", "updatedAt"),
	exemptions("attendeeMappings", "part", "skipped", "error", "loadedAt", "triedAt"),
	exemptions("groupWork", "at", "attempts", "ref", "trace", "sessions", "cards"),
)

func exemptions(collection string, fields ...string) (all []firestore.Exemption) {
	for _, field := range fields {
		all = append(all, firestore.Exemption{Collection: collection, Path: store.Field(field)})
	}
	return all
}

// indexes is the text of firestore.indexes.json.
func indexes() ([]byte, error) { return firestore.Indexes(queries(), exempt) }
