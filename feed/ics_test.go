package feed_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ical "github.com/emersion/go-ical"

	"questscheduler/feed"
)

var evening = feed.Session{
	PollID: "7f", Title: "Session nine", Description: "Bring dice", URL: "https://party.example/scheduler/7f",
	Start: time.Date(2026, 3, 7, 18, 0, 0, 0, time.UTC), End: time.Date(2026, 3, 7, 22, 0, 0, 0, time.UTC),
	Sequence: 4, Changed: time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC),
}

func with(change func(*feed.Session)) feed.Session {
	session := evening
	change(&session)
	return session
}

func render(t *testing.T, sessions ...feed.Session) []byte {
	t.Helper()
	text, err := feed.Render(sessions)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// read parses a feed with another library than the one that wrote it.
func read(t *testing.T, text []byte) []ical.Event {
	t.Helper()
	decoder := ical.NewDecoder(bytes.NewReader(text))
	calendar, err := decoder.Decode()
	if err != nil {
		t.Fatalf("the feed cannot be parsed: %v\n%s", err, text)
	}
	if _, err := decoder.Decode(); err == nil {
		t.Fatalf("the feed has several calendars:\n%s", text)
	}
	for name, want := range map[string]string{
		"VERSION": "2.0", "METHOD": "PUBLISH", "X-WR-CALNAME": "Quest Scheduler", "REFRESH-INTERVAL": "PT1H",
	} {
		if values := calendar.Props.Values(name); len(values) != 1 || values[0].Value != want {
			t.Errorf("%s is %v, want %s once", name, values, want)
		}
	}
	for _, component := range append(calendar.Children, calendar.Component) {
		for _, properties := range component.Props {
			for _, property := range properties {
				for name, values := range property.Params {
					if len(values) != 1 {
						t.Errorf("%s has the parameter %s %d times", property.Name, name, len(values))
					}
				}
			}
		}
	}
	if values := calendar.Props.Values("REFRESH-INTERVAL"); len(values) == 1 && values[0].Params.Get("VALUE") != "DURATION" {
		t.Errorf("REFRESH-INTERVAL has the parameters %v", values[0].Params) // RFC 7986 demands it
	}
	if calendar.Props.Get("PRODID") == nil {
		t.Error("there is no PRODID")
	}
	if len(calendar.Children) != len(calendar.Events()) {
		t.Errorf("%d components, %d of them events", len(calendar.Children), len(calendar.Events()))
	}
	return calendar.Events()
}

// value gives the only value of a property, unescaped; "" for none.
func value(t *testing.T, event ical.Event, name string) string {
	t.Helper()
	values := event.Props.Values(name)
	if len(values) == 0 {
		return ""
	}
	if len(values) > 1 {
		t.Errorf("%s is there %d times", name, len(values))
	}
	if name == "SUMMARY" || name == "DESCRIPTION" || name == "UID" {
		text, err := values[0].Text()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return text
	}
	return values[0].Value
}

// checkFormat holds a feed to the form of RFC 5545: CRLF, lines of at most 75 octets, UTF-8 that
// is cut nowhere, no control characters, and the properties that an event requires.
func checkFormat(t *testing.T, text []byte) {
	t.Helper()
	if !bytes.HasSuffix(text, []byte("END:VCALENDAR\r\n")) {
		t.Error("the feed does not end with its last line")
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\r\n"), "\r\n") {
		if len(line) > 75 || len(line) == 0 || !utf8.ValidString(line) {
			t.Errorf("line of %d octets: %q", len(line), line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("line with a control character: %q", line)
		}
	}
	for _, event := range read(t, text) {
		for _, name := range []string{"UID", "DTSTAMP", "LAST-MODIFIED", "DTSTART", "SEQUENCE", "STATUS", "SUMMARY"} {
			if len(event.Props.Values(name)) != 1 {
				t.Errorf("%s is there %d times", name, len(event.Props.Values(name)))
			}
		}
		if _, err := event.DateTimeStart(time.UTC); err != nil {
			t.Error(err)
		}
		if _, err := event.DateTimeEnd(time.UTC); err != nil {
			t.Error(err)
		}
	}
}

func TestRender_Session_HasItsProperties(t *testing.T) {
	t.Parallel()
	text := render(t, evening)
	checkFormat(t, text)
	event := read(t, text)[0]
	for name, want := range map[string]string{
		"UID": "7f@questscheduler.app", "SUMMARY": "Session nine", "DESCRIPTION": "Bring dice\n\nhttps://party.example/scheduler/7f",
		"URL": "https://party.example/scheduler/7f", "DTSTART": "20260307T180000Z", "DTEND": "20260307T220000Z",
		"DTSTAMP": "20260201T120000Z", "LAST-MODIFIED": "20260201T120000Z", "SEQUENCE": "4", "STATUS": "CONFIRMED",
	} {
		if got := value(t, event, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestRender_Cases_HaveTheirValues(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	zone := time.FixedZone("", 2*60*60)
	for name, c := range map[string]struct {
		session feed.Session
		want    map[string]string
	}{
		"cancelled":    {with(func(s *feed.Session) { s.Cancelled = true }), map[string]string{"STATUS": "CANCELLED"}},
		"another zone": {with(func(s *feed.Session) { s.Start = s.Start.In(zone) }), map[string]string{"DTSTART": "20260307T180000Z"}},
		"all day": {
			with(func(s *feed.Session) { s.AllDay, s.Start, s.End = true, day, day.AddDate(0, 0, 2) }),
			map[string]string{"DTSTART": "20260307", "DTEND": "20260309"},
		},
		"no end": {with(func(s *feed.Session) { s.End = s.Start }), map[string]string{"DTEND": ""}},
		"a day, no end": {
			with(func(s *feed.Session) { s.AllDay, s.Start, s.End = true, day, day }),
			map[string]string{"DTSTART": "20260307", "DTEND": ""},
		},
		"no link":       {with(func(s *feed.Session) { s.URL = "" }), map[string]string{"URL": "", "DESCRIPTION": "Bring dice"}},
		"only a link":   {with(func(s *feed.Session) { s.Description = "" }), map[string]string{"DESCRIPTION": evening.URL}},
		"nothing":       {with(func(s *feed.Session) { s.Description, s.URL = "", "" }), map[string]string{"DESCRIPTION": ""}},
		"never changed": {with(func(s *feed.Session) { s.Changed = time.Time{} }), map[string]string{"DTSTAMP": "19700101T000000Z"}},
		"long title": {
			with(func(s *feed.Session) { s.Title = strings.Repeat("é", 600) }),
			map[string]string{"SUMMARY": strings.Repeat("é", 500) + "…"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := render(t, c.session)
			checkFormat(t, text)
			event := read(t, text)[0]
			for property, want := range c.want {
				if got := value(t, event, property); got != want {
					t.Errorf("%s is %q, want %q", property, got, want)
				}
			}
			if got := event.Props.Get("DTSTART").Params.Get("VALUE"); (got == "DATE") != c.session.AllDay {
				t.Errorf("DTSTART has the type %q", got)
			}
		})
	}
}

func TestRender_HostileTexts_StayTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"a\nb\r\nc\rd", "a\nb\nc\nd"},
		{`comma, semicolon; colon: back\slash "quote" \n \N`, `comma, semicolon; colon: back\slash "quote" \n \N`},
		{
			"END:VEVENT\r\nEND:VCALENDAR\r\nBEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:evil",
			"END:VEVENT\nEND:VCALENDAR\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:evil",
		},
		{"bell\a nul\x00 del\x7f nel\u0085 tab\t", "bell nul del nel tab\t"},
		{"\xff\xfe half a rune \xf0\x9f", "\uFFFD half a rune \uFFFD"},
		{"\r\n X-INJECTED:1", "\n X-INJECTED:1"},
		{strings.Repeat(" ", 200), strings.Repeat(" ", 200)},
		{strings.Repeat("x", 200), strings.Repeat("x", 200)},
		{"", ""},
	} {
		text := render(t, with(func(s *feed.Session) { s.Title, s.Description, s.URL = c.text, c.text, "" }))
		checkFormat(t, text)
		events := read(t, text)
		if len(events) != 1 {
			t.Errorf("%q gives %d events", c.text, len(events))
			continue
		}
		for _, name := range []string{"SUMMARY", "DESCRIPTION"} {
			if got := value(t, events[0], name); got != c.want {
				t.Errorf("%s of %q is %q, want %q", name, c.text, got, c.want)
			}
		}
	}
}

func TestRender_EmojiAtEveryFold_AreWhole(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"é", "€", "🎲", "👩‍👩‍👧"} {
		for before := range 80 {
			title := strings.Repeat("x", before) + strings.Repeat(letter, 60)
			text := render(t, with(func(s *feed.Session) { s.Title = title }))
			checkFormat(t, text)
			if got := value(t, read(t, text)[0], "SUMMARY"); got != title {
				t.Fatalf("%q is read as %q", title, got)
			}
		}
	}
}

func TestRender_SameSessions_GiveTheSameBytes(t *testing.T) {
	t.Parallel()
	var sessions, reversed []feed.Session
	for i := range 20 {
		session := with(func(s *feed.Session) { s.PollID, s.Start = strconv.Itoa(i), s.Start.Add(time.Duration(i%7)*time.Hour) })
		sessions, reversed = append(sessions, session), append([]feed.Session{session}, reversed...)
	}
	first := render(t, sessions...)
	checkFormat(t, first)
	if again := render(t, reversed...); !bytes.Equal(first, again) {
		t.Errorf("first\n%s\nthen\n%s", first, again)
	}
	if got := len(read(t, first)); got != 20 {
		t.Errorf("%d events", got)
	}
	if events := read(t, render(t)); len(events) != 0 {
		t.Errorf("no session gives %d events", len(events))
	}
}

func FuzzRender_AnySessions_AreRead(f *testing.F) {
	f.Add("Session nine", "Bring dice", "7f", int64(1772906400), int64(14400), false, uint8(2))
	f.Add("END:VEVENT\r\nBEGIN:VEVENT", "\\,;\n🎲", "a b", int64(0), int64(-1), true, uint8(3))
	f.Add(strings.Repeat("🎲 ", 60), "\x00\xff\u2028\u0085", "", int64(253402300799), int64(1), false, uint8(1))
	f.Fuzz(func(t *testing.T, title, description, id string, start, length int64, allDay bool, count uint8) {
		var sessions []feed.Session
		for i := range int(count % 5) {
			session := feed.Session{
				PollID: fmt.Sprint(i, id), Title: title, Description: description, URL: "https://party.example/" + strconv.Itoa(i),
				Start: time.Unix(start, 0), End: time.Unix(start, 0).Add(time.Duration(length)), AllDay: allDay, Sequence: i,
				Changed: time.Unix(length, 0),
			}
			if session.Renderable() {
				sessions = append(sessions, session)
			}
		}
		text := render(t, sessions...)
		if most := feed.MostBytes(sessions); len(text) > most {
			t.Errorf("the feed has %d bytes, and at most %d were foretold:\n%s", len(text), most, text)
		}
		checkFormat(t, text)
		events := read(t, text)
		if len(events) != len(sessions) {
			t.Fatalf("%d sessions give %d events:\n%s", len(sessions), len(events), text)
		}
		for i, event := range events {
			if at, err := event.DateTimeStart(time.UTC); err != nil || !allDay && !at.Equal(sessions[i].Start) {
				t.Errorf("session %d starts at %v (%v), want %v", i, at, err, sessions[i].Start)
			}
			if got := value(t, event, "SEQUENCE"); got == "" {
				t.Error("there is no SEQUENCE")
			}
		}
	})
}
