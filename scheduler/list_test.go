package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// A list shows of each poll where it is and was, and no more than it is asked for.
func TestList_ShowsWhatItIsAskedFor(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	open, _ := w.PollOf("gm", scheduler.Create{Title: "open"})
	w.Skip(time.Minute)
	s := moved(w)
	list := func(person string, participant bool, parts scheduler.Parts) (views []scheduler.View) {
		t.Helper()
		asked := poll.List{UserID: person, Participant: participant, Limit: 10}
		_, err := w.Scheduler.List(t.Context(), worldtest.Person(person), asked, parts, func(view scheduler.View) (bool, error) {
			views = append(views, view)
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return views
	}
	for name, c := range map[string]struct {
		parts               scheduler.Parts
		slots, votes, count bool
	}{
		"the polls alone": {scheduler.Parts{}, false, false, false},
		"their slots":     {scheduler.Parts{Slots: true}, true, false, true},
		"their votes":     {scheduler.Parts{Votes: true}, false, true, false},
		"both":            {scheduler.Parts{Slots: true, Votes: true}, true, true, true},
	} {
		views := list("gm", false, c.parts)
		if len(views) != 2 {
			t.Fatalf("%s: %d polls", name, len(views))
		}
		last, first := views[0], views[1]
		equal(t, name+": newest first", last.Poll.ID+" "+first.Poll.ID, s.poll+" "+open)
		equal(t, name+": where it is", last.Winning != nil && last.Winning.Start.Equal(worldtest.Noon.Start), true)
		equal(t, name+": where it was", last.Original != nil && last.Original.Start.Equal(worldtest.Ten.Start), true)
		equal(t, name+": where it was, as a slot", last.Original != nil && last.Original.ID == s.slots[0], true)
		equal(t, name+": where the open one is", first.Winning == nil && first.Original == nil, true)
		equal(t, name+": when it was read", last.SyncedAt.IsZero(), false)
		equal(t, name+": slots", len(last.Slots) == 3 && len(first.Slots) == 2, c.slots)
		equal(t, name+": no slots", len(last.Slots) == 0 && len(first.Slots) == 0, !c.slots)
		equal(t, name+": votes", len(first.Votes) == 3, c.votes)
		equal(t, name+": no votes", len(first.Votes) == 0, !c.votes)
		if c.count {
			equal(t, name+": votes that are counted", first.Slots[0].Feasible, 2)
		}
	}
	equal(t, "polls in which ben takes part", len(list("ben", true, scheduler.Parts{})), 2)
	equal(t, "polls that ben made", len(list("ben", false, scheduler.Parts{})), 0)
}

// Groups are listed for their members and those whom they invite.
func TestGroups_AreThoseOfThePerson(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Party()
	name := "Other"
	other := scheduler.EditGroup{Name: &name, Add: []string{"cho"}}
	if _, err := w.Scheduler.CreateGroup(t.Context(), worldtest.Person("ana"), other); err != nil {
		t.Fatal(err)
	}
	for person, want := range map[string]string{"gm": "The party", "ana": "The party, Other", "ben": "The party", "cho": "Other", "dee": ""} {
		var names []string
		_, err := w.Scheduler.Groups(t.Context(), scheduler.Person{ID: person}, store.Paging{Limit: 10}, func(group poll.Group) (bool, error) {
			names = append(names, group.Name)
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(names, ", "); got != want && got != "Other, The party" {
			t.Errorf("%s has the groups %q, want %q", person, got, want)
		}
	}
}

// A group's poll has its card as soon as it is made, without the drain.
func TestCreate_OfAGroupsPoll_DrawsItsCardAtOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	view, err := w.Scheduler.Create(t.Context(), gm, scheduler.Create{
		Title: "Session", Slots: []worldtest.Slot{worldtest.Ten}, GroupID: w.Party(),
	}, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	w.RunDue()
	equal(t, "it has a card", w.View(view.Poll.ID).Poll.Discord.MessageID != "", true)
}
