package poll_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// document makes of a text what a store could hold: a JSON object in which
// "@2026-03-01T12:00:00Z" is an instant and a number without a point is whole.
func document(text string) (store.Document, bool) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var fields map[string]any
	if decoder.Decode(&fields) != nil || fields == nil {
		return store.Document{}, false
	}
	data, err := store.Normalize(typed(fields).(map[string]any))
	return store.Document{Path: "schedulers/p/any/d", Data: data}, err == nil
}

func typed(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = typed(v[name])
		}
	case []any:
		for i := range v {
			v[i] = typed(v[i])
		}
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		double, err := v.Float64()
		if err != nil {
			return math.Inf(1)
		}
		return double
	case string:
		if at, err := time.Parse(time.RFC3339Nano, strings.TrimPrefix(v, "@")); err == nil && strings.HasPrefix(v, "@") {
			return at
		}
	}
	return value
}

// FuzzDecode_AnyDocument: whatever stands in a document, also one that the web
// app or a stranger wrote, is read without a panic; what was read can be
// written; and what is written is read as the same again.
func FuzzDecode_AnyDocument(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"status":null,"participantIds":["a",1,null],"discord":[],"calendarSync":"x","createdAt":5}`,
		`{"status":"FINALIZED","winningSlotId":"s","googleEventId":"e","calendarSync":{"state":"RESCHEDULED","generation":3,
		"lastEventFingerprint":"2026-03-02|2026-03-03|true","baseline":{"fingerprint":"2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|false"},
		"rescheduled":{"fromSlotId":"a","toSlotId":"b","at":"@2026-03-02T10:00:00Z"},"error":{"code":"sync_failed"},"cancelled":{"at":"2026-03-02T10:00:00Z"}}}`,
		`{"start":"2026-03-02T10:00:00+14:00","end":"2026-03-02T11:00:00.123456789Z","stats":{"feasible":2.9,"preferred":-1e300}}`,
		`{"start":"2026-03-02T23:00:00Z","end":"2026-03-03T10:00:00Z","allDay":true}`,
		`{"start":"0000-01-01T00:00:00+01:00","end":"9999-12-31T23:59:59-01:00","allDay":true,"startDate":"2026-03-02","endDate":"2026-03-01"}`,
		`{"votes":{"s1":"PREFERRED","s2":true,"s3":{"feasible":true},"s4":{"preferred":"yes"},"s5":7},"noTimesWork":"no"}`,
		`{"kind":"insert","pollId":"p","generation":1.5,"due":"@2026-03-02T10:00:00.0000001Z","session":{"start":"@2026-03-02T10:00:00Z","attendees":["x"]}}`,
		`{"wanted":{"ref":"r","time":"2026-03-02|2026-03-03|true"},"pending":true,"due":"@2026-03-02T10:00:00Z","channels":{"discord":{"at":1},"":null}}`,
		`{"observation":{"fingerprint":"||false"},"result":{"generation":"9"},"before":"x|y|true"}`,
		`{"memberIds":[["a"]],"discord":{"notifications":{"a":1,"b":true}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, ok := document(text)
		if !ok {
			return
		}
		again(t, doc, poll.DecodeSlot, poll.EncodeSlot)
		again(t, doc, poll.DecodeIntent, poll.EncodeIntent)
		again(t, doc, poll.DecodeIndex, poll.EncodeIndex)
		again(t, doc, poll.DecodeEntry, poll.EncodeEntry)
		rewritten(t, doc, poll.DecodeVote, poll.VoteUpdates)
		rewritten(t, doc, poll.DecodeGroup, poll.GroupUpdates)
		rewritten(t, doc, poll.DecodeAnnouncement, func(a poll.Announcement) []store.Update {
			return append(poll.DeliveryUpdates(a.Delivering, a.Attempts, a.AgainAt), poll.KnownUpdates(a.PollID, a.Wanted)...)
		})
		p := poll.Decode(doc)
		if p.Status == "" {
			t.Fatal("a poll without a status is open")
		}
		checkPoll(t, doc, p)
	})
}

// again demands that what is read of a document, written and read, is the same.
func again[T any](t *testing.T, doc store.Document, decode func(store.Document) T, encode func(T) map[string]any) {
	t.Helper()
	first := decode(doc)
	written, err := store.Normalize(encode(first))
	if err != nil {
		t.Fatalf("%+v was read and cannot be written: %v", first, err)
	}
	second := decode(store.Document{Path: doc.Path, Data: written})
	normal, err := store.Normalize(encode(second))
	if err != nil || !reflect.DeepEqual(normal, written) {
		t.Fatalf("%+v is written as\n%v\nand then as\n%v (%v)", first, written, normal, err)
	}
}

// rewritten demands that writing what was read changes what is read no more,
// and leaves fields that nobody knows alone.
func rewritten[T any](t *testing.T, doc store.Document, decode func(store.Document) T, updates func(T) []store.Update) {
	t.Helper()
	unknown := store.Update{Path: store.Field("fieldOfTheWebApp"), Value: "kept"}
	data := apply(t, doc.Data, unknown)
	data = apply(t, data, updates(decode(doc))...)
	after := apply(t, data, updates(decode(store.Document{Path: doc.Path, Data: data}))...)
	if !reflect.DeepEqual(after, data) {
		t.Fatalf("%v\nis rewritten as\n%v", data, after)
	}
	if after["fieldOfTheWebApp"] != "kept" {
		t.Fatal("a field that nobody knows did not survive")
	}
}

func apply(t *testing.T, data map[string]any, updates ...store.Update) map[string]any {
	t.Helper()
	out, err := store.Normalize(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.CheckUpdates(updates); err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	if err := store.ApplyUpdates(out, updates); err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	return out
}

// checkPoll demands that a poll which was read of a document leaves it as it is, but
// for what of ours cannot be read, and that it can be written anew from nothing.
func checkPoll(t *testing.T, doc store.Document, p poll.Poll) {
	t.Helper()
	if updates := p.Changes(); len(updates) > 0 {
		got := poll.Decode(store.Document{Path: doc.Path, Data: apply(t, doc.Data, updates...)})
		if !reflect.DeepEqual(poll.Bare(got), poll.Bare(p)) || len(got.Changes()) > 0 {
			t.Fatalf("nothing was changed, and\n%+v\nis read where\n%+v\nwas", got, p)
		}
	}
	updates := append(poll.Anew(p).Changes(), store.Update{Path: store.Field("fieldOfTheWebApp"), Value: "kept"})
	anew := poll.Decode(store.Document{Path: doc.Path, Data: apply(t, map[string]any{}, updates...)})
	if got, want := poll.WrittenPart(anew), poll.WrittenPart(p); !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v was written and %+v is read", want, got)
	}
	if p.Rules("a", nil, nil).Link != (rules.Link{
		Account: "a", Calendar: p.GoogleCalendarID, Event: p.GoogleEventID, Generation: p.Sync.Generation,
	}) {
		t.Fatal("the link is another")
	}
}
