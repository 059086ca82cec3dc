package main

import "questscheduler/internal/test/worldtest"

// oddFields are what Google may show in the place of an event's own fields: of a
// type that it does not document, or nothing at all.
var oddFields = []string{
	`{"recurrence": "RRULE:FREQ=WEEKLY"}`,
	`{"start": "2026-03-10T12:00:00Z"}`,
	`{"end": ["2026-03-10T12:00:00Z"]}`,
	`{"updated": 1773144000}`,
	`{"id": 7}`,
	`{"extendedProperties": {"private": ["poll"]}}`,
	`{"organizer": "gm"}`,
	`{"updated": null}`,
	`{"updated": null}`,
}

// answers are what Google may answer that is no refusal, and no answer to rely
// on either.
var answers = []step{
	{weight: 3, do: func(l *life) {
		l.event(func(e event) {
			fields := one(l, oddFields)
			l.say("Google: shows %v of %s with %s", e, e.calendar, fields)
			l.w.Malform(e.calendar, e.ID, fields)
		})
	}},
	{weight: 2, do: func(l *life) { l.say("Google: shows all events as they are"); l.w.Google.ClearMalformed() }},
	{weight: 1, do: func(l *life) {
		l.say("Google: rejects the sync tokens with 400")
		l.must(l.w.Google.RejectSyncTokens())
	}},
	{weight: 1, do: func(l *life) {
		l.say("gm: writes to the club's calendar now, and sees no private details")
		l.w.ShareClub(worldtest.WriterWithoutPrivateAccess)
	}},
}
