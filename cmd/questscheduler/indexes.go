package main

import (
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
)

// exempt are the fields that Firestore is to keep no index of by themselves:
// what only grows would hold its collection to 500 writes a second, and what is
// large, or has names of its own for each event or person, fills indexes that
// nobody reads. Of documents that the web app asks for as well, only what it
// cannot ask for is here.
var exempt = []firestore.Exemption{
	// The journal: when is asked for, what and why is not.
	{Collection: "journal", Path: store.Field("trace")},
	{Collection: "journal", Path: store.Field("fence")},
	{Collection: "journal", Path: store.Field("observation")},
	{Collection: "journal", Path: store.Field("result")},
	{Collection: "journal", Path: store.Field("reason")},
	// Snapshots hold whole polls.
	{Collection: "calendarSyncSnapshots", Path: store.Field("votes")},
	{Collection: "calendarSyncSnapshots", Path: store.Field("participants")},
	{Collection: "calendarSyncSnapshots", Path: store.Field("pendingInvites")},
	{Collection: "calendarSyncSnapshots", Path: store.Field("createdAt")},
	// What is to be told, and was.
	{Collection: "announcements", Path: store.Field("wanted")},
	{Collection: "announcements", Path: store.Field("announced")},
	{Collection: "announcements", Path: store.Field("channels")},
	{Collection: "announcements", Path: store.Field("due")}, // asked for with owed alone
	{Collection: "announcements", Path: store.Field("againAt")},
	{Collection: "intents", Path: store.Field("session")},
	{Collection: "intents", Path: store.Field("lastError")},
	{Collection: "intents", Path: store.Field("trace")},
	{Collection: "intents", Path: store.Field("until")},
	{Collection: "intents", Path: store.Field("createdAt")},
	{Collection: "calendarEventIndex", Path: store.Field("createdAt")},
	{Collection: "calendarWatches", Path: store.Field("address")},
	{Collection: "calendarWatches", Path: store.Field("tokenHash")},
	{Collection: "calendarWatches", Path: store.Field("grantedAt")},
	{Collection: "calendarWatches", Path: store.Field("createdAt")},
	{Collection: "calendarWatches", Path: store.Field("updatedAt")},
	// Calendars are written with every look.
	{Collection: "calendars", Path: store.Field("syncToken")},
	{Collection: "calendars", Path: store.Field("lookGen")},
	{Collection: "calendars", Path: store.Field("begunGen")},
	{Collection: "calendars", Path: store.Field("fence")},
	{Collection: "calendars", Path: store.Field("lookedAt")},
	{Collection: "calendars", Path: store.Field("lastSyncedAt")},
	{Collection: "calendars", Path: store.Field("lastSuccessAt")},
	{Collection: "calendars", Path: store.Field("lastError")},
	{Collection: "calendars", Path: store.Field("legacyEventIds")},
	{Collection: "calendars", Path: store.Field("pendingLooks")},
	{Collection: "accounts", Path: store.Field("updatedAt")},
	{Collection: "accountSecrets", Path: store.Field("refreshToken")},
	{Collection: "accountSecrets", Path: store.Field("updatedAt")},
	{Collection: "idempotencyKeys", Path: store.Field("body")},
	{Collection: "idempotencyKeys", Path: store.Field("data")},
	{Collection: "idempotencyKeys", Path: store.Field("createdAt")},
	{Collection: "idempotencyKeys", Path: store.Field("leaseUntil")},
	// Dead letters are asked for by their time alone.
	{Collection: "deadTasks", Path: store.Field("name")},
	{Collection: "deadTasks", Path: store.Field("payload")},
	{Collection: "deadTasks", Path: store.Field("reason")},
	// The web app's own documents.
	{Collection: "schedulers", Path: store.Field("description")},
	{Collection: "schedulers", Path: store.Field("calendarSync", "lastSyncedAt")},
	{Collection: "schedulers", Path: store.Field("calendarSync", "observedUpdated")},
	{Collection: "schedulers", Path: store.Field("calendarSync", "recorded", "at")},
	{Collection: "notifications", Path: store.Field("body")},
	{Collection: "notifications", Path: store.Field("metadata")},
}

// indexes is the text of firestore.indexes.json.
func indexes() ([]byte, error) { return firestore.Indexes(queries(), exempt) }
