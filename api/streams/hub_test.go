package streams

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/poll"
)

// quietly never reports a change, and counts those who listen.
type quietly struct {
	listening int
	changed   []chan string
}

// Listen implements Changes.
func (q *quietly) Listen() (changed <-chan string, stop func()) {
	q.listening++
	one := make(chan string)
	q.changed = append(q.changed, one)
	return one, func() { q.listening--; close(one) }
}

// hubOf is a hub with the streams of some people, by their names, who know no polls yet.
func hubOf(t *testing.T, people ...string) (h *Hub, from *quietly, of map[string]*Stream) {
	t.Helper()
	from, of = &quietly{}, map[string]*Stream{}
	h = New(from, nil)
	for _, name := range people {
		of[name] = h.Enter(strings.TrimRight(name, "'"))
		h.Learned(of[name], known())
	}
	t.Cleanup(func() {
		for _, s := range of {
			h.Leave(s)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if from.listening != 0 || len(h.people)+len(h.knowing)+len(h.learning) != 0 {
			t.Errorf("%d listen in the end; people %v, polls %v, learning %v", from.listening, h.people, h.knowing, h.learning)
		}
	})
	return h, from, of
}

func known(polls ...string) iter.Seq[string] { return slices.Values(polls) }

// got takes the changes that wait for streams, and lists whose.
func got(of map[string]*Stream) string {
	var names []string
	for name, s := range of {
		for len(s.changed) > 0 {
			<-s.changed
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func written(creator string, participants ...string) *Change {
	return &Change{poll.WithGroup{ID: "p1", Poll: &poll.Poll{ID: "p1", CreatorID: creator, ParticipantIDs: participants}}, nil}
}

func TestHub_GivesAChange_ToThoseWhomItMayConcern(t *testing.T) {
	t.Parallel()
	h, _, of := hubOf(t, "gm", "gm'", "ana", "ben", "eve")
	ofParty := written("gm")
	ofParty.Group = &poll.Group{CreatorID: "cho", MemberIDs: []string{"ben"}}
	h.Learned(of["eve"], known("p2"))
	for _, step := range []struct {
		name string
		send *Change
		want string
	}{
		{"to both streams of its creator, and a participant", written("gm", "ana"), "ana gm gm'"},
		{"to those who were told of it, once more", written("gm"), "ana gm gm'"},
		{"to them no longer", written("gm"), "gm gm'"},
		{"to members of its group", ofParty, "ben gm gm'"},
		{"to all who knew it, as it is gone", &Change{poll.WithGroup{ID: "p1"}, nil}, "ben gm gm'"},
		{"to nobody", &Change{poll.WithGroup{ID: "p1"}, nil}, ""},
		{"to those who learned of it otherwise", &Change{poll.WithGroup{ID: "p2"}, nil}, "eve"},
		{"to all, as nobody knows whom it concerns", &Change{poll.WithGroup{ID: "p1"}, errors.New("no")}, "ana ben eve gm gm'"},
	} {
		h.send(step.send)
		if got := got(of); got != step.want {
			t.Errorf("%s: given to %q, want %q", step.name, got, step.want)
		}
	}
}

func TestHub_WhoLearns_GetsEveryChange(t *testing.T) {
	t.Parallel()
	h, _, of := hubOf(t, "gm", "eve")
	of["cho"] = h.Enter("cho")
	h.Learn(of["eve"])
	h.send(written("gm"))
	if got := got(of); got != "cho eve gm" {
		t.Errorf("given to %q", got)
	}
	h.Learned(of["cho"], known())
	h.Learned(of["eve"], known())
	h.send(written("gm"))
	if got := got(of); got != "gm" {
		t.Errorf("given to %q by those who have learned", got)
	}
}

func TestHub_AStreamFallsBehind_IsCutOffAlone(t *testing.T) {
	t.Parallel()
	h, _, of := hubOf(t, "gm", "ana")
	for range Held + 1 {
		h.send(written("gm"))
	}
	of["gm'"] = h.Enter("gm")
	h.Learned(of["gm'"], known())
	h.Learn(of["gm"]) // it has not noticed
	h.Learned(of["gm"], known("p1"))
	h.send(written("gm", "ana"))
	if len(of["ana"].changed) != 1 || len(of["gm'"].changed) != 1 || len(of["gm"].changed) != Held {
		t.Errorf("changes wait: %d, %d and %d", len(of["ana"].changed), len(of["gm'"].changed), len(of["gm"].changed))
	}
	for range Held {
		<-of["gm"].changed
	}
	if _, open := <-of["gm"].changed; open {
		t.Error("it goes on after the loss")
	}
}

func TestHub_ListensWhileAStreamIsOpen(t *testing.T) {
	t.Parallel()
	h, from, of := hubOf(t, "gm", "ana")
	for step, left := range []int{1, 0} {
		h.Leave(of[[]string{"gm", "ana"}[step]])
		if from.listening != left {
			t.Errorf("after %d left, %d listen", step+1, from.listening)
		}
	}
	of["gm"] = h.Enter("gm")
	if from.listening != 1 || len(from.changed) != 2 {
		t.Errorf("%d listen again, of %d", from.listening, len(from.changed))
	}
	for n := range MostOfOne {
		of[fmt.Sprint(n)] = h.Enter("ben")
	}
	of["cho"] = h.Enter("cho")
	if h.Enter("ben") != nil || of["cho"] == nil {
		t.Error("the number of one person's streams is not limited, or that of all is")
	}
}
