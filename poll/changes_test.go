package poll_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/store"
)

// neverWritten are the fields of a poll that this backend only reads once the poll
// is made, and why.
var neverWritten = map[string]string{
	"ID":             "it is the document's own",
	"CreatorID":      "a poll never changes hands",
	"CreatorEmail":   "a poll never changes hands",
	"GroupID":        "the web app moves polls between groups",
	"GroupName":      "the web app moves polls between groups",
	"Discord":        "package notify writes it with the card",
	"HasCancelledAt": "it is only ever taken away",
	"Votes":          "the web app's setting",
	"CreatedAt":      "it is written once",
	"stored":         "it is what the document held",
}

// TestChanges_EachField_IsWrittenAndReadBack: a field that is added to a poll, and
// that Changes or Decode forgets, is named here.
func TestChanges_EachField_IsWrittenAndReadBack(t *testing.T) {
	t.Parallel()
	known := poll.Decode(store.Document{Path: poll.Path("p1"), Data: fields{"title": "Session"}})
	check := func(name string, change func(p *poll.Poll)) {
		t.Helper()
		p := known
		change(&p)
		updates := p.Changes()
		if len(updates) == 0 {
			t.Errorf("%s: another value is not written", name)
			return
		}
		got := poll.Decode(store.Document{Path: poll.Path("p1"), Data: stored(t, fields{"title": "Session"}, updates...)})
		if !reflect.DeepEqual(poll.Bare(got), poll.Bare(p)) {
			t.Errorf("%s: it is read back as\n%+v, and was\n%+v", name, got, p)
		}
	}
	for i, f := range reflect.VisibleFields(reflect.TypeFor[poll.Poll]()) {
		if _, never := neverWritten[f.Name]; !never && f.Name != "Sync" {
			check(f.Name, func(p *poll.Poll) { fill(t, reflect.ValueOf(p).Elem().Field(i)) })
		}
	}
	for i, f := range reflect.VisibleFields(reflect.TypeFor[poll.Sync]()) {
		check("Sync."+f.Name, func(p *poll.Poll) { fill(t, reflect.ValueOf(&p.Sync).Elem().Field(i)) })
	}
}

// fill gives a field a value that a document can hold, and every field below it.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = moment.Truncate(time.Millisecond).UTC()
		return
	case *rules.Fingerprint:
		*x = time1
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("a text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("a key"), value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		t.Fatalf("a field is a %s: say here what it may hold", v.Type())
	}
}

// TestChanges_OfTheWebAppsFields_AreNamedAlone: what a transition does not change
// stays as somebody wrote it, be it ever so odd.
func TestChanges_OfTheWebAppsFields_AreNamedAlone(t *testing.T) {
	t.Parallel()
	odd := fields{
		"title": 7, "participantIds": []any{"gm", nil, 3}, "status": nil, "cancelledAt": "", "timezone": []any{},
		"finalizedSlotPriorityAtMs": "x", "updatedAt": "2026-02-02T09:30:00Z",
		"calendarSync": fields{"generation": 2.0, "error": fields{"code": "x", "at": moment, "message": "m", "more": 1}},
	}
	p := poll.Decode(store.Document{Path: poll.Path("p1"), Data: odd})
	if updates := p.Changes(); len(updates) > 0 {
		t.Errorf("nothing was changed, and %v is written", updates)
	}
	p.WinningSlotID, p.UpdatedAt = "s1", moment
	var named []string
	for _, update := range p.Changes() {
		named = append(named, update.Path.String())
	}
	if want := []string{"winningSlotId", "updatedAt"}; !slices.Equal(named, want) {
		t.Errorf("%v are written, want %v", named, want)
	}
}

// TestChanges_OfOursThatCannotBeRead_AreTakenAway: the web app shows a badge for
// whatever stands there.
func TestChanges_OfOursThatCannotBeRead_AreTakenAway(t *testing.T) {
	t.Parallel()
	before := fields{"cancelled": true, "calendarSync": fields{
		"rescheduled": fields{}, "error": "x", "cancelled": []any{}, "lastEventFingerprint": "garbage", "baseline": nil, "unknown": 1,
	}}
	p := poll.Decode(store.Document{Path: poll.Path("p1"), Data: before})
	same(t, "what is left", stored(t, before, p.Changes()...), fields{"calendarSync": fields{"baseline": nil, "unknown": int64(1)}})
}
