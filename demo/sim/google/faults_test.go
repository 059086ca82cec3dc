package google_test

import (
	"net/url"
	"testing"

	"google.golang.org/api/calendar/v3"
)

func TestFaults_LimitedByTheControl_StrikeThoseCallsAlone(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	w.insert("gm", timed("qs0mine", 6))
	w.insert("gm", timed("qs0other", 7))
	must(w.as("gm").Events.Insert(club, timed("qs0mine", 6)).Do())(t)
	_, token := w.list("gm", nil)
	clubs := must(w.as("gm").Events.List(club).Do())(t).NextSyncToken
	get := func(key, cal, id string) error { return failure(w.as(key).Events.Get(cal, id).Do()) }
	list := func(cal string) error { return failure(w.as("gm").Events.List(cal).Do()) }
	since := func(cal, token string) error { return failure(w.as("gm").Events.List(cal).SyncToken(token).Do()) }
	calls := []func() error{
		func() error { return list("primary") },
		func() error { return list("gm@example.test") },
		func() error { return list("GM@example.test") },
		func() error { return list(club) },
		func() error { return since("primary", token) },
		func() error { return since(club, clubs) },
		func() error { return get("gm", "primary", "qs0mine") },
		func() error { return get("gm", "primary", "qs0other") },
		func() error { return get("gm", club, "qs0mine") },
		func() error { return get("ana", club, "qs0mine") },
		func() error { return failure(w.as("ana").Events.List("primary").Do()) },
		func() error { return failure(w.as("gm").CalendarList.Get(club).Do()) },
		func() error { return failure(w.as("gm").CalendarList.List().Do()) },
	}
	for rule, want := range map[string]string{
		`"match":"*"`: "xxxxxxxxxxxxx",
		`"match":"*","calendar":"gm@example.test"`:                      "xxx.x.xx.....",
		`"match":"*","calendar":"` + club + `"`:                         "...x.x..xx.x.",
		`"match":"*","event":"qs0mine"`:                                 "......x.xx...",
		`"match":"*","event":"qs0mine","calendar":"` + club + `"`:       "........xx...",
		`"match":"events.list","token":true`:                            "....xx.......",
		`"match":"events.list","token":false`:                           "xxxx......x..",
		`"match":"events.list","token":true,"calendar":"` + club + `"`:  ".....x.......",
		`"match":"events.get|calendarList.*","calendar":"` + club + `"`: "........xx.x.",
		`"match":"events.*","calendar":"nobody@example.test"`:           ".............",
	} {
		w.control("faults", `{`+rule+`,"status":503}`)
		got := ""
		for _, call := range calls {
			switch err := call(); {
			case err == nil:
				got += "."
			default:
				wantError(t, err, 503, "backendError")
				got += "x"
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
		w.sim.Control().Clear()
	}
}

// failure is a call's error alone.
func failure[T any](_ T, err error) error { return err }

func TestFaults_OfAPush_CanBeLimitedToACalendar(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	hooks := newReceiver(t, nil)
	w.watch("gm", "mine", hooks.url)
	must(w.as("gm").Events.Watch(club, &calendar.Channel{Id: "club", Type: "web_hook", Address: hooks.url}).Do())(t)
	w.control("faults", `{"match":"push","drop":true,"calendar":"`+club+`"}`)
	w.deliverAll()
	if got := hooks.next(t).Get("X-Goog-Channel-Id"); got != "mine" || len(hooks.pushes) != 0 {
		t.Errorf("a push to %s, and %d more", got, len(hooks.pushes))
	}
}

func TestFaults_WithABody_AnswerItWithoutAnEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.control("faults", `{"match":"events.list","body":{"items":[{"id":7}]},"token":false,"times":1}`)
	if status, text := w.raw("?" + url.Values{"timeZone": {"UTC"}}.Encode()); status != 200 || text != `{"items":[{"id":7}]}` {
		t.Errorf("%d %s", status, text)
	}
	w.control("faults", `{"match":"events.insert","status":418,"times":1,
		"body":{"error":{"code":418,"message":"tea","errors":[{"domain":"kitchen","reason":"teapot","message":"tea"}]}}}`)
	_, err := w.as("gm").Events.Insert("primary", timed("qs0mine", 6)).Do()
	wantError(t, err, 418, "teapot")
	if items, _ := w.list("gm", nil); len(items) != 0 {
		t.Errorf("an event was made: %s", states(items))
	}
}
