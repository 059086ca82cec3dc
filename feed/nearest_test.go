package feed_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/feed"
)

// many are sessions a day apart, before and after now, whose texts have a size.
func many(count, letters int) (sessions []feed.Session) {
	for i := range count {
		sessions = append(sessions, with(func(s *feed.Session) {
			s.PollID, s.Description = strconv.Itoa(i), strings.Repeat("🎲;", letters/2)
			s.Start = now.Add(time.Duration(i-count/2) * 24 * time.Hour)
			s.End = s.Start.Add(time.Hour)
		}))
	}
	return sessions
}

func TestNearest_TooManySessions_LeavesFarOnesOut(t *testing.T) {
	t.Parallel()
	all := many(1000, 2000)
	left := feed.Nearest(all, now)
	text := render(t, left...)
	if len(text) > feed.MaxBytes || len(text) < feed.MaxBytes*95/100 {
		t.Errorf("%d of %d sessions have %d bytes", len(left), len(all), len(text))
	}
	reach := time.Duration(0)
	for _, s := range left {
		reach = max(reach, s.Start.Sub(now).Abs())
	}
	for _, s := range all {
		there := slices.ContainsFunc(left, func(other feed.Session) bool { return other.PollID == s.PollID })
		if !there && s.Start.Sub(now).Abs() < reach {
			t.Errorf("the session at %v is missing, and one %v away is there", s.Start, reach)
		}
	}
}

func TestNearest_TentativeSessions_GiveWay(t *testing.T) {
	t.Parallel()
	all := many(1000, 2000)
	for i := range all {
		all[i].Tentative = i%2 == 0 && i != 1 // as near as the others
	}
	consented := slices.DeleteFunc(slices.Clone(all), func(s feed.Session) bool { return s.Tentative })
	var left []string
	for _, s := range feed.Nearest(all, now) {
		left = append(left, s.PollID)
	}
	var want []string
	for _, s := range feed.Nearest(consented, now) {
		want = append(want, s.PollID)
	}
	if !slices.Equal(left, want) {
		t.Errorf("%d sessions are left, of %d consented ones that fit", len(left), len(want))
	}
	few := consented[:3]
	for _, s := range all {
		if s.Tentative {
			few = append(few, s)
		}
	}
	first := feed.Nearest(few, now)[:3]
	if slices.ContainsFunc(first, func(s feed.Session) bool { return s.Tentative }) {
		t.Error("far consented sessions give way to near tentative ones")
	}
}

func TestNearest_SessionsThatFit_AreAllLeft(t *testing.T) {
	t.Parallel()
	all := many(1000, 20)
	if left := feed.Nearest(all, now.AddDate(50, 0, 0)); len(left) != len(all) {
		t.Errorf("%d of %d are left", len(left), len(all))
	}
	if left := feed.Nearest(nil, now); len(left) != 0 {
		t.Errorf("%d of none", len(left))
	}
}

// The last of the room goes to the lesser id, in whatever order the two come.
func TestNearest_RoomForOneOfTwo_IsFilled(t *testing.T) {
	t.Parallel()
	full := feed.Nearest(many(1000, 2000), now)
	filling := func(id string, letters, title int) feed.Session {
		return with(func(s *feed.Session) {
			s.PollID, s.Tentative, s.Description, s.Title, s.URL = id, true, "", strings.Repeat("t", title), strings.Repeat("u", letters)
		})
	}
	room := feed.MaxBytes - feed.MostBytes(full) + feed.MostBytes(nil)
	letters, title := max(0, room*9/10-1000), 1
	for range 10_000 {
		if feed.MostBytes([]feed.Session{filling("a", letters, title)}) == room {
			break
		}
		title++
		if title > 5 { // a line more takes four bytes at once
			letters, title = letters+1, 1
		}
	}
	a, b := filling("a", letters, title), filling("b", letters, title)
	for _, two := range [][]feed.Session{{a, b}, {b, a}} {
		left := feed.Nearest(append(slices.Clone(full), two...), now)
		if last := left[len(left)-1].PollID; feed.MostBytes(left) != feed.MaxBytes || last != "a" {
			t.Errorf("%d bytes of %d are used, the last session is %s", feed.MostBytes(left), feed.MaxBytes, last)
		}
	}
}

func TestTag_OfNoSession_IsOfTheFormat(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte(strconv.Itoa(feed.Format) + "\n"))
	if got, want := feed.TagOf(nil), hex.EncodeToString(sum[:16]); got != want {
		t.Errorf("the tag is %s, want %s", got, want)
	}
}

func TestTag_OfAnyOtherSession_Differs(t *testing.T) {
	t.Parallel()
	known := map[string]string{feed.TagOf([]feed.Session{evening}): "the session"}
	for name, change := range map[string]func(*feed.Session){
		"poll": func(s *feed.Session) { s.PollID += "1" }, "title": func(s *feed.Session) { s.Title += "1" },
		"description": func(s *feed.Session) { s.Description += "1" }, "URL": func(s *feed.Session) { s.URL += "1" },
		"start": func(s *feed.Session) { s.Start = s.Start.Add(time.Second) }, "end": func(s *feed.Session) { s.End = s.End.Add(time.Second) },
		"all day": func(s *feed.Session) { s.AllDay = true }, "cancelled": func(s *feed.Session) { s.Cancelled = true },
		"sequence": func(s *feed.Session) { s.Sequence++ }, "changed": func(s *feed.Session) { s.Changed = s.Changed.Add(time.Second) },
	} {
		tag := feed.TagOf([]feed.Session{with(change)})
		if other, taken := known[tag]; taken {
			t.Errorf("another %s has the tag of %s", name, other)
		}
		known[tag] = name
	}
	two := many(2, 10)
	if feed.TagOf(two) != feed.TagOf([]feed.Session{two[1], two[0]}) || feed.TagOf(two) == feed.TagOf(two[:1]) {
		t.Error("the tag depends on the order, or not on the number")
	}
}

// TestRender_AnotherOutput_HasAnotherFormat: a caller who has the text of a tag gets no other one,
// so raise format with each change of what Render makes of the same sessions.
func TestRender_AnotherOutput_HasAnotherFormat(t *testing.T) {
	t.Parallel()
	sessions := []feed.Session{
		evening, with(func(s *feed.Session) { s.PollID, s.Cancelled, s.URL = "8a", true, "" }),
		with(func(s *feed.Session) {
			s.PollID, s.AllDay, s.Start, s.End = "9b", true, now.Truncate(24*time.Hour), now.Truncate(24*time.Hour).AddDate(0, 0, 1)
		}),
		with(func(s *feed.Session) {
			s.PollID, s.Changed, s.Description, s.End = "0c", time.Time{}, strings.Repeat("; é", 900), s.Start
		}),
	}
	sum := sha256.Sum256(render(t, sessions...))
	outputs := map[int]string{1: "a70088016f7694b5ce5347e62514b1539b73169b74bca092a5ca61c74575a38a"}
	if got := hex.EncodeToString(sum[:]); outputs[feed.Format] != got {
		t.Errorf("format %d is %s here, want %s", feed.Format, got, outputs[feed.Format])
	}
}
