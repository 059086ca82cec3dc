package availability_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// named stores the poll p1 of gm's that names ana and ben, who share and are busy on no evening.
// Only the proof that change makes may show them.
func (w *world) named(change func(map[string]any)) {
	w.t.Helper()
	w.poll([]string{"gm", "ana", "ben"}, func(p map[string]any) {
		delete(p, "joinedIds")
		if change != nil {
			change(p)
		}
	})
	for _, id := range []string{"gm", "ana", "ben"} {
		w.synced(id, id)
	}
	w.share("gm", "ana", "ben")
}

func (w *world) group(members, pending []any) {
	w.t.Helper()
	w.set(poll.GroupPath("party"), map[string]any{"creatorId": "gm", "memberIds": members, "pendingMemberIds": pending})
}

// accepted records who accepted the group's invitation while creator had made it.
func (w *world) accepted(creator string, people ...any) {
	w.t.Helper()
	w.set(poll.AcceptedPath("party"), map[string]any{"creatorId": creator, "acceptedIds": people})
}

func TestForPoll_OnlyNamed_IsUnknownAndMayNotAsk(t *testing.T) {
	t.Parallel()
	inParty := func(p map[string]any) { p["questingGroupId"] = "party" }
	for name, row := range map[string]struct {
		poll  func(map[string]any)
		after func(w *world)
		want  bool
	}{
		"only named":          {},
		"voted":               {after: func(w *world) { w.set(poll.VotePath("p1", "ana"), map[string]any{"voterId": "ana"}) }, want: true},
		"another voted":       {after: func(w *world) { w.set(poll.VotePath("p1", "cho"), map[string]any{"voterId": "ana"}) }},
		"joined":              {poll: func(p map[string]any) { p["joinedIds"] = []any{"ana"} }, want: true},
		"another joined":      {poll: func(p map[string]any) { p["joinedIds"] = []any{"cho"} }},
		"created it":          {poll: func(p map[string]any) { p["creatorId"] = "ana" }, want: true},
		"listed in its group": {poll: inParty, after: func(w *world) { w.group([]any{"ana"}, nil) }},
		"listed, and clients cannot": {poll: inParty, after: func(w *world) {
			w.group([]any{"ana"}, nil)
			w.MembersListed = true
		}, want: true},
		"member of its group": {poll: inParty, after: func(w *world) {
			w.group([]any{"ana"}, nil)
			w.accepted("gm", "ana")
		}, want: true},
		"a member before": {poll: inParty, after: func(w *world) {
			w.group([]any{"gm"}, nil)
			w.accepted("gm", "ana")
		}},
		"member of an older group of its id": {poll: inParty, after: func(w *world) {
			w.group([]any{"ana"}, nil)
			w.accepted("cho", "ana")
		}},
		"another accepted": {poll: inParty, after: func(w *world) {
			w.group([]any{"ana", "ben"}, nil)
			w.accepted("gm", "cho")
		}},
		"invited to its group":    {poll: inParty, after: func(w *world) { w.group([]any{"gm"}, []any{"ana"}) }},
		"member of another group": {after: func(w *world) { w.group([]any{"ana"}, nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.named(row.poll)
			w.set(poll.VotePath("p1", "gm"), map[string]any{"voterId": "gm"})
			if row.after != nil {
				row.after(w)
			}
			want := map[bool]string{true: "fff", false: "uuu"}[row.want]
			w.wantStates("gm", map[string]string{"gm": "fff", "ana": want, "ben": "uuu"})
			_, err := w.ForPoll(t.Context(), "p1", "ana")
			if row.want != (err == nil) || err != nil && (!fault.Is(err, fault.Forbidden) || fault.CodeOf(err) != availability.CodeOnlyNamed) {
				t.Errorf("ana asks: %v", err)
			}
			if err != nil && fault.MessageOf(err, "") == "" {
				t.Error("ana is not told what to do")
			}
		})
	}
}

// TestForPoll_CreatorWhoIsNotInTheGroup_IsShownNoMember: ana accepted the group's invitation, ben came
// later, and both share. ana may still ask about a poll in which she voted.
func TestForPoll_CreatorWhoIsNotInTheGroup_IsShownNoMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"eve", "dan"}, func(p map[string]any) {
		p["creatorId"], p["joinedIds"], p["questingGroupId"] = "eve", []any{"eve"}, "party"
	})
	for _, id := range []string{"gm", "ana", "ben", "dan", "eve"} {
		w.synced(id, id)
	}
	w.share("gm", "ana", "ben", "dan")
	w.group([]any{"gm", "ana", "ben", "eve"}, nil)
	w.accepted("gm", "ana", "ben")
	w.wantStates("eve", map[string]string{"gm": "fff", "ana": "fff", "ben": "fff", "dan": "uuu", "eve": "fff"})
	w.group([]any{"gm", "ana", "ben"}, []any{"eve"})
	w.wantStates("eve", map[string]string{"dan": "uuu", "eve": "fff"})
	if _, err := w.ForPoll(t.Context(), "p1", "ana"); fault.CodeOf(err) != availability.CodeOnlyNamed {
		t.Errorf("ana, who has not voted, is answered %v", err)
	}
	w.set(poll.VotePath("p1", "ana"), map[string]any{"voterId": "ana"})
	w.wantStates("eve", map[string]string{"ana": "fff", "dan": "uuu", "eve": "fff"})
	w.wantStates("ana", map[string]string{"gm": "uuu", "ana": "fff", "ben": "uuu", "dan": "uuu", "eve": "uuu"})
	w.group([]any{"gm", "dan"}, nil)
	w.MembersListed = true
	w.wantStates("eve", map[string]string{"dan": "uuu", "eve": "fff"})
}

// polls stores that many polls q1… of gm's.
func (w *world) polls(count int) (ids []string) {
	w.t.Helper()
	for i := range count {
		ids = append(ids, fmt.Sprintf("q%d", i))
		w.set(poll.Path(ids[i]), map[string]any{
			"creatorId": "gm", "participantIds": []any{"gm", "ana"}, "joinedIds": []any{"ana"}, "status": "OPEN",
		})
	}
	return ids
}

func TestForPoll_SixtyFirstAnswerOfAsker_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.clock = time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC)
	ids := w.polls(61)
	for i, id := range ids[:60] {
		if _, err := w.ForPoll(t.Context(), id, "gm"); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
	}
	_, err := w.ForPoll(t.Context(), ids[60], "gm")
	limited := new(fault.Error)
	if !errors.As(err, &limited) || limited.Kind != fault.RateLimited || limited.Code != availability.CodeAllowance ||
		limited.RetryAfter != 30*time.Minute {
		t.Fatalf("the 61st answer: %v", err)
	}
	counted := func(pollID string) bool {
		doc, err := w.Store.Get(t.Context(), store.Doc("availabilityAnswers", pollID))
		must(t, err)
		return doc.Exists()
	}
	if counted(ids[60]) || !counted(ids[59]) {
		t.Error("a refused answer counts for its poll")
	}
	if _, err := w.ForPoll(t.Context(), ids[60], "ana"); err != nil {
		t.Errorf("ana is refused: %v", err)
	}
	w.clock = w.clock.Add(30 * time.Minute)
	if _, err := w.ForPoll(t.Context(), ids[60], "gm"); err != nil {
		t.Errorf("on the next day: %v", err)
	}
}

// What a poll refuses does not count for its asker, nor what only named people ask.
func TestForPoll_RefusedAnswers_CostTheAskerNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.polls(3)
	ask := func(id, asker string) error {
		_, err := w.ForPoll(t.Context(), id, asker)
		return err
	}
	for range 30 {
		must(t, ask(ids[0], "ana"))
	}
	for range 40 {
		if err := ask(ids[0], "gm"); fault.CodeOf(err) != availability.CodeAllowance {
			t.Fatal(err)
		}
	}
	must(t, w.Store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(poll.Path(ids[2]), poll.Set("participantIds", []any{"gm", "cho"}))
	}))
	for range 40 {
		if err := ask(ids[2], "cho"); fault.CodeOf(err) != availability.CodeOnlyNamed {
			t.Fatal(err)
		}
	}
	for range 30 {
		must(t, ask(ids[1], "gm"))
	}
	for range 30 {
		must(t, ask(ids[2], "gm"))
	}
	if err := ask(ids[2], "gm"); fault.CodeOf(err) != availability.CodeAllowance {
		t.Errorf("after sixty: %v", err)
	}
}
