// Package google simulates Google Calendar v3, the values of Google Sheets v4 and
// Google's OAuth, from the consent page to the revocation, so that the real clients can be tested,
// measured and shown without the cloud. It speaks HTTP, over a socket or through
// control.Transport. It does what Google documents; where
// Google leaves something open it takes the side that is harder on a client:
//
//   - a deleted event is shown with kind, etag, id and status alone;
//   - a page is cut before it is filtered, so it may be short or empty and
//     still name a next one;
//   - a sync token is bound to the parameters of the listing that gave it.
//
// A series is expanded (rule.go) as far as its rule is one of days, weeks,
// months or years; an instance that is written becomes an event of its own, and
// keeps what it has when the series changes, unless the series no longer takes
// place then.
//
// The scope calendar.app.created makes calendars, and finds no others than those
// that the same OAuth client made. freebusy.query covers at most 50 calendars and
// 90 days.
//
// Of Google Sheets there are spreadsheets.values.get and values.update, by rows, for
// ranges that name their tab. Cells are texts: formulas are not computed. A grant
// needs the scope, and its user's e-mail address a role in the spreadsheet; their
// calls count against Quota.Sheets alone.
//
// Beside the controls of package control there are, as JSON over HTTP:
//
//	POST   /_sim/revoke              {"user": "gm"}: every grant of the user dies
//	POST   /_sim/quota               see Quota
//	POST   /_sim/expire-sync-tokens  every sync token given so far is answered
//	                                 410; {"reason": "updatedMinTooLongAgo"} for
//	                                 that one, {"status": 400} to reject it as
//	                                 no token at all
//	POST   /_sim/malformed           {"calendar": "…", "event": "…", "fields":
//	                                 {"recurrence": "weekly", "updated": null}}:
//	                                 how get and list show that event from now
//	                                 on; see Malformed. GET lists, DELETE ends
//	PUT    /_sim/calendars/{id}      {"roles": {"gm": "reader"}, "push": false}:
//	                                 what users may do there ("none": they find
//	                                 it no more) and whether it can be watched;
//	                                 also summary and time_zone. One that is not
//	                                 there is made for the owner that roles name
//	PUT    /_sim/sheets/{id}         {"tabs": {"User Mappings": [["Primary"], …]},
//	                                 "roles": {"gm@example.com": "reader"}}: what
//	                                 is left out stays, a tab of null goes. One
//	                                 that is not there is made. GET shows it
//	PUT    /_sim/service-accounts/{email}  {"domains": ["example.com"], "scopes":
//	                                 ["…"]}: as whom, and for what, the service
//	                                 account may act; one that is not there is
//	                                 made. It answers its JSON key
//	POST   /_sim/calendars/{id}/clear  as calendars.clear, for any caller
//	POST   /_sim/calendars/{id}/duplicate  {"event": "…", "to": "…"}: copies an
//	                                 event as people do by hand, see Duplicate
//
// State is a world (world.go) that only commit changes, by applying a record;
// with Options.Dir the record is written to a journal first, so what was
// answered survives a kill of the process. An event that has once been stored
// is never changed, a new version takes its place: readers render it without
// the lock.
package google
