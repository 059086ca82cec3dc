package feed_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/feed"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

func made(id, creator string, ago time.Duration) poll.Poll {
	return poll.Poll{
		ID: id, CreatorID: creator, CreatedAt: now.Add(-ago), Status: rules.Finalized, WinningSlotID: "s1",
		ParticipantIDs: []string{"ana"},
	}
}

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

func TestChoose_Polls_ComeByConsentThenAge(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		known feed.Known
		want  []string
		cut   bool
	}{
		"consented, acquainted, strange": {
			feed.Known{
				Polls: []poll.Poll{
					made("stranger's", "eve", 0), made("fellow's", "fay", time.Second), made("friend's", "gm", time.Minute),
					made("mine, old", "eve", 2*time.Hour), made("mine", "eve", time.Hour),
				},
				Consented: set("mine", "mine, old"), Creators: set("gm"), Fellows: set("fay"),
			},
			[]string{"mine", "mine, old", "fellow's?", "friend's?", "stranger's?"}, false,
		},
		"made at once": {
			feed.Known{
				Polls:    []poll.Poll{made("c", "gm", 0), made("a", "gm", 0), made("d", "gm", time.Hour), made("b", "gm", 0)},
				Creators: set("gm"),
			},
			[]string{"a?", "b?", "c?", "d?"}, false,
		},
		"a fourth of a stranger's": {
			feed.Known{Polls: []poll.Poll{made("d", "eve", 0), made("c", "eve", 0), made("b", "eve", 0), made("a", "eve", 0)}},
			[]string{"a?", "b?", "c?"}, true,
		},
	} {
		if got, cut := row.known.Choose(); !slices.Equal(got, row.want) || cut != row.cut {
			t.Errorf("%s: %q, %t; want %q, %t", name, got, cut, row.want, row.cut)
		}
	}
	full := feed.Known{Consented: set(), Creators: set("gm")}
	for i := range feed.MaxSessions {
		id := fmt.Sprintf("p%04d", i)
		full.Consented[id] = i%2 == 0
		full.Polls = append(full.Polls, made(id, "gm", 0))
	}
	full.Polls = append(full.Polls, made("stranger's", "eve", 0))
	if got, _ := full.Choose(); len(got) != feed.MaxSessions || got[feed.MaxSessions-1] != "p0999?" {
		t.Errorf("%d are chosen, the last one %q", len(got), got[len(got)-1])
	}
}

func TestAdd_PollsListedTwice_AreAddedOnce(t *testing.T) {
	t.Parallel()
	p1, p2 := made("p1", "gm", 0), made("p2", "gm", 0)
	if got, want := feed.Added([]poll.Poll{p1, p1}, []poll.Poll{p2, p1, p2}), []string{"p1", "p2"}; !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
}

func TestAcquaintances_EachOnce_ByPollsFirst(t *testing.T) {
	t.Parallel()
	known := feed.Known{
		Polls:    []poll.Poll{made("p1", "zoe", 0), made("p2", "eve", 0), made("p3", "zoe", 0), made("p4", "ana", 0), made("p5", "", 0)},
		Creators: set("zoe", "gm", "ana", ""), Fellows: set("ana", "", "fay", "gm"),
	}
	if got, want := known.Acquaintances(), []string{"zoe", "gm", "fay"}; !slices.Equal(got, want) {
		t.Errorf("they are %q, want %q", got, want)
	}
}

func TestKeep_Texts_GiveWayBeyondTheBound(t *testing.T) {
	t.Parallel()
	const most = feed.MaxKeptBytes
	for _, row := range []struct{ sizes, left []int }{
		{[]int{1, most - 1}, []int{1, most - 1}},
		{[]int{1, most}, []int{0, most}},
		{[]int{most / 2, 5, most / 2}, []int{0, 5, most / 2}},
	} {
		sum := 0
		for _, size := range row.left {
			sum += size
		}
		if left, counted := feed.KeepTexts(row.sizes...); !slices.Equal(left, row.left) || counted != sum {
			t.Errorf("of %v there are %v, counted as %d", row.sizes, left, counted)
		}
	}
}

func TestRenderable_Years_AreOfFourDigits(t *testing.T) {
	t.Parallel()
	for year, want := range map[int]bool{-1: false, 0: false, 1: true, 9999: true, 10000: false} {
		at := time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC)
		if got := (feed.Session{Start: at}).Renderable(); got != want {
			t.Errorf("the year %d: %t", year, got)
		}
	}
	endless := with(func(s *feed.Session) { s.End = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) })
	if end := read(t, render(t, endless))[0].Props.Get("DTEND"); end != nil {
		t.Errorf("it ends at %s", end.Value)
	}
}
