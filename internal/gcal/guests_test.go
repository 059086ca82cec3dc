package gcal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
)

// feast is an event of gm's with a guest of each sort.
func feast(t *testing.T, w *world, change func(*calendar.Event)) {
	t.Helper()
	event := &calendar.Event{
		Id: "abcde1", Start: &calendar.EventDateTime{Date: "2026-03-05"}, End: &calendar.EventDateTime{Date: "2026-03-06"},
		Attendees: []*calendar.EventAttendee{
			{Email: "gm@example.test", ResponseStatus: "accepted"},
			{Email: "Ana@Example.test", ResponseStatus: "tentative", DisplayName: "Ana", Comment: "late", Optional: true, AdditionalGuests: 2},
			{Email: "ben@elsewhere.test", ResponseStatus: "declined"},
			{Email: "room1@resource.test", ResponseStatus: "accepted", Resource: true},
		},
	}
	if change != nil {
		change(event)
	}
	if _, err := w.person(t, "gm").Events.Insert("primary", event).Do(); err != nil {
		t.Fatal(err)
	}
}

// feastGuests are those of feast, as gm's calendar shows them.
var feastGuests = []gcal.Guest{
	{Address: "gm@example.test", Response: "accepted", Organizer: true, Self: true},
	{Address: "Ana@Example.test", Response: "tentative"},
	{Address: "ben@elsewhere.test", Response: "declined"},
	{Address: "room1@resource.test", Response: "accepted", Resource: true},
}

// guestList reads the guests of abcde1 in the primary calendar of an account.
func (w *world) guestList(t *testing.T, account string) gcal.GuestList {
	t.Helper()
	list, err := w.client.GuestList(t.Context(), gcal.Ref{Account: account, Calendar: "primary"}, "abcde1")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// said writes guests as "name response", in order.
func said(guests []gcal.Guest) string {
	var list []string
	for _, guest := range guests {
		name, _, _ := strings.Cut(guest.Address, "@")
		list = append(list, name+" "+guest.Response)
	}
	return strings.Join(list, ", ")
}

func TestGuests_AreShownByTheCallsThatReadThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	feast(t, w, func(e *calendar.Event) { e.GuestsCanModify = true })
	one := func(mask gcal.Mask) gcal.Event {
		page, err := w.client.List(t.Context(), mine, mask, "", "")
		if err != nil || len(page.Events) != 1 {
			t.Fatalf("%d events: %v", len(page.Events), err)
		}
		return page.Events[0]
	}
	for name, shown := range map[string]gcal.Event{
		"get": w.get(t, "abcde1"), "guest list": w.guestList(t, "gm").Event, "listing": one(gcal.WithGuests),
	} {
		want := slices.Clone(feastGuests)
		want[1].Optional = name == "guest list" // of a listing nothing needs it
		if d := shown.Details; !reflect.DeepEqual(d.Guests, want) || d.GuestsOmitted || !d.GuestsMayEdit || d.Response != "accepted" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := one(gcal.WithDetails).Details; d.Guests != nil || d.GuestsOmitted || d.GuestsMayEdit || d.Response != "accepted" {
		t.Errorf("a listing without guests: %+v", d)
	}
	if d := one(gcal.Times).Details; d != nil {
		t.Errorf("a listing of times: %+v", d)
	}
	theirs := w.guestList(t, "ana").Event.Details
	if guest := theirs.Guests[1]; !guest.Self || theirs.Organized || !theirs.GuestsMayEdit || theirs.Response != "tentative" {
		t.Errorf("ana's copy: %+v", theirs)
	}
}

func TestPatchGuests_AddsAndRemovesAddresses(t *testing.T) {
	t.Parallel()
	const before = "gm accepted, Ana tentative, ben declined, room1 accepted"
	for name, tc := range map[string]struct {
		add, remove []string
		want        string
		calls       int
	}{
		"adds":                    {[]string{"ana@second.test"}, nil, before + ", ana needsAction", 1},
		"adds in order":           {[]string{"b@second.test", "a@second.test"}, nil, before + ", b needsAction, a needsAction", 1},
		"adds one address once":   {[]string{"a@second.test", "A@Second.test"}, nil, before + ", a needsAction", 1},
		"removes":                 {nil, []string{"ben@elsewhere.test"}, "gm accepted, Ana tentative, room1 accepted", 1},
		"removes in another case": {nil, []string{"ana@EXAMPLE.test"}, "gm accepted, ben declined, room1 accepted", 1},
		"adds and removes": {
			[]string{"x@second.test"}, []string{"ben@elsewhere.test"}, "gm accepted, Ana tentative, room1 accepted, x needsAction",
			1,
		},
		"removes all":              {nil, []string{"gm@example.test", "ana@example.test", "ben@elsewhere.test", "room1@resource.test"}, "", 1},
		"there in another case":    {[]string{"ANA@example.TEST"}, nil, before, 0},
		"no guest in the first":    {nil, []string{"nobody@example.test", ""}, before, 0},
		"has nothing to do at all": {nil, nil, before, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patched := 0
			w := newWorld(t, gcal.Options{Called: counting(&patched, "events.patch")})
			feast(t, w, nil)
			list := w.guestList(t, "gm")
			written, err := w.client.PatchGuests(t.Context(), mine, list, gcal.GuestChange{Add: tc.add, Remove: tc.remove}, "none")
			if err != nil {
				t.Fatal(err)
			}
			after := w.guestList(t, "gm").Event
			if said(written.Details.Guests) != tc.want || !reflect.DeepEqual(after, written) || patched != tc.calls {
				t.Errorf("%d calls, answered %s, then %s", patched, said(written.Details.Guests), said(after.Details.Guests))
			}
			if changed := written.ETag != list.Event.ETag; changed != (tc.calls > 0) {
				t.Errorf("etag %s after %s", written.ETag, list.Event.ETag)
			}
		})
	}
}

// counting counts the calls of one method.
func counting(count *int, of string) func(method string, err error, took time.Duration) {
	return func(method string, _ error, _ time.Duration) {
		if method == of {
			*count++
		}
	}
}

// What Google knows of other guests is written back, also what we know nothing of.
func TestPatchGuests_OtherGuests_KeepEveryField(t *testing.T) {
	t.Parallel()
	const guests = `[{"email":"Ana@Example.test","responseStatus":"tentative","displayName":"Ana","comment":"late","optional":true,` +
		`"additionalGuests":2,"id":"117","newField":{"deep":[1,"2"]},"big":12345678901234567890},{"responseStatus":"accepted","id":"118"},` +
		`{"email":"ben@elsewhere.test","responseStatus":"declined","self":true,"organizer":true}]`
	var sent struct {
		body, match, notify, kind string
	}
	client := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			var body json.RawMessage
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			sent.body, sent.match, sent.notify, sent.kind = string(body), r.Header.Get("If-Match"), r.URL.Query().Get("sendUpdates"),
				r.Header.Get("Content-Type")
		}
		if r.URL.Query().Has("maxAttendees") || r.URL.Path != "/calendar/v3/calendars/gm@example.test/events/abcde1" {
			t.Errorf("asked %s", r.URL)
		}
		fmt.Fprintf(w, `{"id":"abcde1","etag":"\"7\"","start":{"date":"2026-03-05"},"end":{"date":"2026-03-06"},"attendees":%s}`, guests)
	})
	for _, notify := range []string{"none", "externalOnly", "all"} {
		list, err := client.GuestList(t.Context(), mine, "abcde1")
		if err != nil {
			t.Fatal(err)
		}
		change := gcal.GuestChange{Add: []string{"ana@second.test", "ben@second.test"}, Optional: []string{"ben@second.test"}}
		if _, err := client.PatchGuests(t.Context(), mine, list, change, notify); err != nil {
			t.Fatal(err)
		}
		want := `{"attendees":` + guests[:len(guests)-1] + `,{"email":"ana@second.test","responseStatus":"needsAction"},` +
			`{"email":"ben@second.test","responseStatus":"needsAction","optional":true}]}`
		if sent.body != want || sent.match != `"7"` || sent.notify != notify || sent.kind != "application/json" {
			t.Errorf("sent %+v\nwant %s", sent, want)
		}
	}
}

// Google keeps, too, what the simulator keeps of a guest.
func TestPatchGuests_KeepsResponsesAtGoogle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	feast(t, w, nil)
	if _, err := w.client.PatchGuests(
		t.Context(), mine, w.guestList(t, "gm"),
		gcal.GuestChange{Add: []string{"ana@second.test"}, Remove: []string{"ben@elsewhere.test"}}, "none",
	); err != nil {
		t.Fatal(err)
	}
	shown, err := w.person(t, "ana").Events.Get("primary", "abcde1").Do()
	if err != nil {
		t.Fatal(err)
	}
	ana := shown.Attendees[1]
	if ana.Email != "Ana@Example.test" || ana.ResponseStatus != "tentative" || ana.DisplayName != "Ana" ||
		ana.Comment != "late" || !ana.Optional || ana.AdditionalGuests != 2 {
		t.Errorf("ana is %+v", ana)
	}
	var got []string
	for _, a := range shown.Attendees {
		got = append(got, a.Email)
	}
	if want := []string{"gm@example.test", "Ana@Example.test", "room1@resource.test", "ana@second.test"}; !slices.Equal(got, want) {
		t.Errorf("guests %v", got)
	}
}

func TestPatchGuests_AfterAnotherChange_IsStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	feast(t, w, nil)
	list := w.guestList(t, "gm")
	answer := calendar.Event{
		AttendeesOmitted: true, Attendees: []*calendar.EventAttendee{{Email: "Ana@Example.test", ResponseStatus: "declined"}},
	}
	if _, err := w.person(t, "ana").Events.Patch("primary", "abcde1", &answer).Do(); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.PatchGuests(t.Context(), mine, list, gcal.GuestChange{Add: []string{"ana@second.test"}}, "none")
	wantKind(t, err, fault.Conflict, gcal.CodeStale)
	if got := said(w.get(t, "abcde1").Details.Guests); got != "gm accepted, Ana declined, ben declined, room1 accepted" {
		t.Errorf("guests %s", got)
	}
	if _, err := w.client.PatchGuests(
		t.Context(), mine, w.guestList(t, "gm"), gcal.GuestChange{Add: []string{"ana@second.test"}}, "none",
	); err != nil {
		t.Errorf("with the list of now: %v", err)
	}
}

func TestPatchGuests_ThroughAGuestsCopy_AsTheEventAllows(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		mayEdit bool
		kind    fault.Kind
		code    string
	}{"guests may modify": {true, 0, ""}, "guests may not": {false, fault.Provider, gcal.CodeNotOrganizer}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, gcal.Options{})
			feast(t, w, func(e *calendar.Event) { e.GuestsCanModify = tc.mayEdit })
			theirs := gcal.Ref{Account: "ana", Calendar: "primary"}
			_, err := w.client.PatchGuests(
				t.Context(), theirs, w.guestList(t, "ana"), gcal.GuestChange{Remove: []string{"ben@elsewhere.test"}}, "none",
			)
			if !tc.mayEdit {
				wantKind(t, err, tc.kind, tc.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := said(w.get(t, "abcde1").Details.Guests); got != "gm accepted, Ana tentative, room1 accepted" {
				t.Errorf("the organizer sees %s", got)
			}
		})
	}
}

// A list that is cut, or of which a part cannot be read, is never written back.
func TestPatchGuests_OfACutList_MakesNoCall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fields  map[string]any
		account string
	}{
		"cut":               {map[string]any{"attendeesOmitted": true}, "gm"},
		"guests are hidden": {nil, "ana"},
		"malformed list":    {map[string]any{"attendees": map[string]any{"email": "gm@example.test"}}, "gm"},
		"malformed guest":   {map[string]any{"attendees": []any{"gm@example.test"}}, "gm"},
		"malformed address": {map[string]any{"attendees": []any{map[string]any{"email": 7}}}, "gm"},
		"malformed flag":    {map[string]any{"attendeesOmitted": "true"}, "gm"},
		"no etag":           {map[string]any{"etag": nil}, "gm"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patched := 0
			w := newWorld(t, gcal.Options{Called: counting(&patched, "events.patch")})
			no := false
			feast(t, w, func(e *calendar.Event) { e.GuestsCanSeeOtherGuests = &no })
			if tc.fields != nil {
				raw := map[string]json.RawMessage{}
				for name, value := range tc.fields {
					raw[name] = marshalled(t, value)
				}
				if err := w.sim.Malform(google.Malformed{Calendar: mine.Calendar, Event: "abcde1", Fields: raw}); err != nil {
					t.Fatal(err)
				}
			}
			list := w.guestList(t, tc.account)
			if d := list.Event.Details; tc.account == "ana" && (!d.GuestsOmitted || said(d.Guests) != "Ana tentative") {
				t.Errorf("ana is shown %+v", d)
			}
			_, err := w.client.PatchGuests(
				t.Context(), gcal.Ref{Account: tc.account, Calendar: "primary"}, list,
				gcal.GuestChange{Add: []string{"ana@second.test"}}, "none",
			)
			wantKind(t, err, fault.Invalid, "")
			if patched > 0 {
				t.Error("it was written back")
			}
		})
	}
}

func TestPatchGuests_WithoutAList_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	feast(t, w, nil)
	for name, event := range map[string]gcal.Event{"times alone": {ID: "abcde1", ETag: `"1"`}, "what get answers": w.get(t, "abcde1")} {
		_, err := w.client.PatchGuests(
			t.Context(), mine, gcal.GuestList{Event: event}, gcal.GuestChange{Add: []string{"ana@second.test"}}, "none",
		)
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func marshalled(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
