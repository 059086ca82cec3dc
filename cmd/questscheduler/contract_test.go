package main

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo"
)

// contract is what the web app expects of the fields of shared documents: by path, with
// * for any name, the types that a value may have. It includes the fields that this
// program adds. Any other field is an error.
var contract = map[string]map[string]string{
	"schedulers": {
		"title": "string", "description": "string", "creatorId": "string", "creatorEmail": "string", "status": "status",
		"participantIds": "array", "pendingInvites": "array", "allowLinkSharing": "boolean", "timezone": "string null", "timezoneMode": "string",
		"winningSlotId": "string null", "googleEventId": "string null", "googleCalendarId": "string null", "finalizedAtMs": "integer",
		"finalizedSlotPriorityAtMs": "map", "finalizedSlotPriorityAtMs.*": "integer", "questingGroupId": "string null",
		"questingGroupName": "string null",
		"createdAt":         "timestamp", "updatedAt": "timestamp", "cancelled": "map", "cancelled.at": "timestamp", "cancelled.reason": "string",
		"discord": "map", "discord.messageId": "string", "discord.channelId": "string", "discord.guildId": "string",
		"discord.messageUrl":   "string",
		"discord.notifyRoleId": "string", "discord.lastPostedAt": "timestamp", "discord.lastUpdatedAt": "timestamp",
		"discord.lastStatus":     "status",
		"discord.lastSyncedHash": "string", "discord.pendingSync": "boolean", "discord.pendingSyncAt": "timestamp null",
		"discord.pendingSyncError": "string null",
		"calendarSync":             "map", "calendarSync.state": "state", "calendarSync.lastSyncedAt": "timestamp",
		"calendarSync.lastEventFingerprint": "string",
		"calendarSync.baseline":             "map", "calendarSync.baseline.startUtc": "iso", "calendarSync.baseline.endUtc": "iso",
		"calendarSync.baseline.fingerprint": "string",
		"calendarSync.rescheduled":          "map", "calendarSync.rescheduled.fromSlotId": "string",
		"calendarSync.rescheduled.toSlotId": "string",
		"calendarSync.rescheduled.at":       "timestamp", "calendarSync.rescheduled.snapshotId": "string",
		"calendarSync.cancelled": "map", "calendarSync.cancelled.at": "timestamp", "calendarSync.cancelled.reason": "string",
		"calendarSync.error": "map", "calendarSync.error.at": "timestamp", "calendarSync.error.code": "string",
		"calendarSync.error.message": "string",
		// ours
		"calendarSync.rescheduled.movedAt": "timestamp", "calendarSync.rescheduled.timely": "string",
		"calendarSync.awaited": "map", "calendarSync.awaited.account": "string", "calendarSync.awaited.calendar": "string",
		"calendarSync.awaited.event": "string", "calendarSync.awaited.generation": "integer", "calendarSync.awaited.until": "timestamp",
		"calendarSync.awaited.winning": "string", "calendarSync.awaited.original": "string",
		"joinedIds": "array", "calendarSync.sequence": "integer",
		"calendarSync.generation": "integer", "calendarSync.observedUpdated": "timestamp null", "calendarSync.baseline.allDay": "boolean",
		"calendarSync.baseline.startDate": "string", "calendarSync.baseline.endDate": "string",
		"calendarSync.recorded": "map", "calendarSync.recorded.*": "string integer timestamp null",
		"calendarSync.request": "map", "calendarSync.request.*": "string timestamp",
	},
	"slots": {
		"start": "iso", "end": "iso", "stats": "map", "stats.feasible": "integer double", "stats.preferred": "integer double",
		"source": "string", "createdBy": "string null", "allDay": "boolean", "startDate": "string", "endDate": "string",
	},
	"votes": {
		"voterId": "string", "userEmail": "string null", "userAvatar": "string null", "votes": "map", "votes.*": "string",
		"noTimesWork": "boolean",
		"updatedAt":   "timestamp", "source": "string null", "lastVotedFrom": "string null",
	},
	"calendarSyncSnapshots": {
		"createdAt": "timestamp", "expiresAt": "timestamp", "winningSlotId": "string", "participants": "array",
		"pendingInvites": "array", "votes": "array",
	},
	"notifications": {
		"type": "string", "title": "string", "body": "string", "actionUrl": "string", "resource": "map",
		"resource.type": "string", "resource.id": "string",
		"resource.title": "string", "actor": "map", "actor.uid": "string", "actor.email": "string null",
		"actor.displayName": "string null", "metadata": "map",
		"metadata.*": "string integer boolean null", "dedupeKey": "string", "read": "boolean", "dismissed": "boolean", "createdAt": "timestamp",
	},
	"calendarEventIndex": {
		"schedulerId": "string", "calendarId": "string", "creatorId": "string", "createdAt": "timestamp",
		"consumer": "string", "accountId": "string", "generation": "integer",
		"awaited": "boolean",
	},
}

// narrower are types that are texts of one format.
var narrower = map[string]*regexp.Regexp{
	"iso":    regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`),
	"status": regexp.MustCompile(`^(OPEN|FINALIZED|CANCELLED|ARCHIVED)$`),
	"state":  regexp.MustCompile(`^(OK|RESCHEDULED|CANCELLED|ERROR)$`),
}

// breaches are the fields of a document that violate the contract, except foreign ones.
func breaches(of map[string]string, fields map[string]any, before string) (wrong []string) {
	for name, value := range fields {
		if strings.HasPrefix(name, foreign) {
			continue
		}
		types, known := of[before+name]
		if !known {
			types, known = of[before+"*"]
			if !known {
				wrong = append(wrong, before+name+" is none of its fields")
				continue
			}
		}
		typed, _ := value.(map[string]any)
		for kind, is := range typed {
			kind = strings.TrimSuffix(kind, "Value")
			allowed := slices.ContainsFunc(strings.Fields(types), func(one string) bool {
				form, narrow := narrower[one]
				return kind == one || narrow && kind == "string" && form.MatchString(fmt.Sprint(is))
			})
			if !allowed {
				wrong = append(wrong, fmt.Sprintf("%s is a %s (%v), has to be: %s", before+name, kind, is, types))
			}
			if below, ok := at(is, "fields").(map[string]any); ok {
				wrong = append(wrong, breaches(of, below, before+name+".")...)
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

// foreign is the prefix of field names that this program does not know.
const foreign = "ofTheApp"

// aForeign is a value with every type, in forms that this program never writes.
func aForeign() map[string]any {
	return map[string]any{"mapValue": map[string]any{"fields": map[string]any{
		"text": text("kept"), "number": map[string]any{"integerValue": "7"}, "half": map[string]any{"doubleValue": 1.5}, "none": null,
		"truth": map[string]any{"booleanValue": true}, "at": map[string]any{"timestampValue": "2026-01-02T03:04:05.000006Z"},
		"list": map[string]any{
			"arrayValue": map[string]any{
				"values": []any{text("a"), map[string]any{"mapValue": map[string]any{"fields": map[string]any{"deep": text("b")}}}},
			},
		},
		"dot.and-dash": text("odd name"), "place": map[string]any{"geoPointValue": map[string]any{"latitude": 1.5, "longitude": 2.5}},
		"bytes": map[string]any{"bytesValue": "AAEC"},
	}}}
}

// shared checks the shared documents of a poll: each matches the contract and keeps the
// fields of other writers.
type shared struct {
	*raw
	id      string
	planted map[string][]string // by document, the paths of what others wrote
}

// plant writes foreign fields into documents, at the top and in the named maps.
func (s *shared) plant(document string, maps ...string) {
	s.t.Helper()
	fields := map[string]any{foreign: aForeign()}
	paths := []string{foreign}
	for _, name := range maps {
		fields[name+"."+foreign] = aForeign()
		paths = append(paths, name+"."+foreign)
	}
	s.set(document, fields)
	s.planted[document] = paths
}

// check reads all documents.
func (s *shared) check(after string) {
	s.t.Helper()
	for document, paths := range s.planted {
		fields := s.get(document)
		for _, name := range paths {
			value := any(map[string]any{"mapValue": map[string]any{"fields": fields}})
			for part := range strings.SplitSeq(name, ".") {
				value = at(value, "mapValue", "fields", part)
			}
			if !reflect.DeepEqual(value, any(asSent())) {
				s.t.Errorf("after %s, %s of %s is %v", after, name, document, value)
			}
		}
	}
	poll := "schedulers/" + s.id
	documents := map[string]map[string]map[string]any{"schedulers": {poll: s.get(poll)}, "notifications": {}}
	for _, collection := range []string{"slots", "votes", "calendarSyncSnapshots"} {
		documents[collection] = s.below(poll + "/" + collection)
	}
	for _, who := range demo.Members {
		maps.Copy(documents["notifications"], s.below("users/"+who+"/notifications"))
	}
	documents["calendarEventIndex"] = s.below("calendarEventIndex")
	for collection, all := range documents {
		for document, fields := range all {
			for _, wrong := range breaches(contract[collection], fields, "") {
				s.t.Errorf("after %s, %s: %s", after, document, wrong)
			}
		}
	}
}

// asSent is aForeign as the emulator gives it back.
func asSent() map[string]any {
	value := aForeign()
	fields, _ := at(value, "mapValue", "fields").(map[string]any)
	fields["none"] = map[string]any{"nullValue": nil}
	return value
}

// TestSharedDocuments_KeepForeignFieldsAndMatchTheContract walks a poll
// through every flow, and reads its documents by Firestore's own REST.
func TestSharedDocuments_KeepForeignFieldsAndMatchTheContract(t *testing.T) {
	t.Parallel()
	o, documents := rawDemo(t)
	job := newMainJob(o)
	job.end = job.start.Add(90*time.Minute + 30*time.Second) // of the event, not the slot's
	s := &shared{raw: documents, id: job.pollID, planted: map[string][]string{}}
	poll := "schedulers/" + s.id
	s.plant(poll, "calendarSync", "discord", "finalizedSlotPriorityAtMs")
	for slot := range s.below(poll + "/slots") {
		s.plant(slot, "stats")
	}
	for vote := range s.below(poll + "/votes") {
		s.plant(vote)
	}
	s.plant("questingGroups/"+o.ready.GroupID, "discord", "discord.notifications")
	s.plant("users/gm", "settings")
	priority := text("") // of the first finalisation

	becomes := func(want map[string]any) func() error {
		return func() error { return mustHave(s.poll(s.id), want) }
	}
	post := func(path string, body any) error {
		_, err := o.v1("gm", "POST", "/polls/"+s.id+path, body)
		return err
	}
	finalise := func() error {
		got := o.result("googleCalendarFinalizePoll", map[string]any{"schedulerId": s.id, "slotId": job.slot["id"], "durationMinutes": 90.5})
		job.event, _ = got["eventId"].(string)
		return nil
	}
	direct := func(fields map[string]any) func() error {
		return func() error { documents.set(poll, fields); return nil }
	}
	for _, step := range []step{
		{"a vote", func() error {
			_, err := o.v1(
				"ana", "PUT", "/polls/"+s.id+"/votes/me",
				map[string]any{"votes": map[string]any{fmt.Sprint(job.slot["id"]): "PREFERRED"}},
			)
			return err
		}, becomes(map[string]any{"status": "OPEN"})},
		{"an edit", func() error {
			_, err := o.v1("gm", "PATCH", "/polls/"+s.id, map[string]any{"title": "Written anew"})
			return err
		}, becomes(map[string]any{"title": "Written anew"})},
		{"finalise", finalise, becomes(map[string]any{"status": "FINALIZED", "calendarSync.state": "OK", "discord.lastStatus": "FINALIZED"})},
		{"the event moved", func() error { return job.patchTimes(24 * time.Hour) }, becomes(map[string]any{"calendarSync.state": "RESCHEDULED"})},
		{"the app's own functions draw the card",
			direct(map[string]any{
				"discord.lastStatus": text("FINALIZED"), "discord.pendingSync": map[string]any{"booleanValue": false},
				"discord.pendingSyncAt": moment(),
			}),
			becomes(map[string]any{"discord.pendingSync": false})},
		{
			"moved back", func() error { return job.patchTimes(0) },
			becomes(map[string]any{"calendarSync.state": "OK", "winningSlotId": job.slot["id"]}),
		},
		{"archived", func() error { return post("/archive", nil) }, becomes(map[string]any{"status": "ARCHIVED"})},
		{"brought back", func() error { return post("/unarchive", nil) }, becomes(map[string]any{"status": "FINALIZED"})},
		{"moved again", func() error { return job.patchTimes(48 * time.Hour) }, becomes(map[string]any{"calendarSync.state": "RESCHEDULED"})},
		{"the original time", func() error { return post("/restore-original-time", nil) }, becomes(map[string]any{"calendarSync.state": "OK"})},
		{
			"the event deleted", job.deleteEvent,
			becomes(map[string]any{"status": "CANCELLED", "calendarSync.state": "CANCELLED", "googleEventId": nil}),
		},
		{"the app restores", direct(map[string]any{"status": text("FINALIZED"), "updatedAt": moment()}), becomes(isRestored)},
		{"the app reopens", direct(map[string]any{"status": text("OPEN"), "winningSlotId": null}), becomes(isReopened)},
		{"finalised again", finalise, becomes(map[string]any{"status": "FINALIZED", "calendarSync.state": "OK"})},
		{"its event deleted by the app", func() error { o.result("googleCalendarDeleteEvent", map[string]any{"schedulerId": s.id}); return nil },
			becomes(map[string]any{"googleEventId": nil, "googleCalendarId": present, "calendarSync.state": nil})},
		{"finalised once more", finalise, becomes(map[string]any{"calendarSync.state": "OK"})},
		{"the app cancels", direct(map[string]any{"status": text("CANCELLED"), "updatedAt": moment()}), becomes(isCancelled)},
		{"reopened", func() error { return post("/reopen", nil) }, becomes(isReopened)},
	} {
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		eventually(t, step.name, step.then)
		if t.Context().Err() == nil {
			s.check(step.name)
		}
		first := at(s.get(poll), "finalizedSlotPriorityAtMs", "mapValue", "fields", fmt.Sprint(job.slot["id"]))
		if first != nil && priority["stringValue"] == "" {
			priority = map[string]any{"stringValue": fmt.Sprint(first)}
		} else if first != nil && fmt.Sprint(first) != priority["stringValue"] {
			t.Errorf("after %s, the slot's first finalisation is %v, was %v", step.name, first, priority["stringValue"])
		}
	}
}

// TestDiscordOwn_Transitions: the app's own functions draw the card, so only the
// transitions are announced.
func TestDiscordOwn_Transitions(t *testing.T) {
	t.Parallel()
	o, documents := rawDemo(t, "QS_DISCORD_OWN=transitions")
	job := newMainJob(o)
	card := map[string]any{
		"discord.messageId": text("1"), "discord.channelId": text(o.ready.DiscordChannel), "discord.lastStatus": text("OPEN"),
		"discord.lastSyncedHash": text("of the app"), "discord.notifyRoleId": text("none"),
		"discord.pendingSync": map[string]any{"booleanValue": false},
	}
	documents.set("schedulers/"+job.pollID, card)
	drawn := documents.poll(job.pollID)["discord"]
	before, err := o.messages()
	if err != nil {
		t.Fatal(err)
	}
	if err := job.finalise(); err != nil {
		t.Fatal(err)
	}
	if err := job.isFinalised(); err != nil {
		t.Fatal(err)
	}
	if err := job.patchTimes(24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the announcement", job.isRescheduled)
	if now := documents.poll(job.pollID)["discord"]; !reflect.DeepEqual(now, drawn) {
		t.Errorf("the card's fields are %v, were %v", now, drawn)
	}
	after, err := o.messages()
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range after[:len(after)-len(before)] {
		if embeds := list(message["embeds"]); len(embeds) != 0 {
			t.Errorf("a card was posted: %v", embeds)
		}
	}
	calls, err := o.try("GET", o.ready.Discord+"/_sim/calls", "", nil)
	if err != nil || calls.status != http.StatusOK || calls.body["messages.edit"] != nil {
		t.Errorf("calls of Discord: %v, %v", calls.body, err)
	}
}
