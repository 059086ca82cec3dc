package interactions_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

func TestVote_OpensAForm_WithTheVoteAsItIs(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.world.Vote(d.poll, "ana", map[string]string{d.slots[0]: poll.Preferred})
	form := d.form()
	if form.Data.Title != "Vote: Session nine" || len(form.Data.Components) != 3 {
		t.Fatalf("the form is %+v", form.Data)
	}
	best, possible, none := form.Data.Components[0], form.Data.Components[1], form.Data.Components[2]
	if best.Label != "Best for me" || possible.Label != "Works too" || best.Description != "Times in Europe/Berlin" {
		t.Errorf("asks %q and %q, %q", best.Label, possible.Label, best.Description)
	}
	first := best.Component.Options[0]
	if first.Label != "Tue 10 Mar, 11:00–12:00" || !first.Default || possible.Component.Options[0].Default {
		t.Errorf("the first time is %+v, %+v", first, possible.Component.Options[0])
	}
	if none.Component.Default {
		t.Error("none of the times is chosen")
	}
}

// The document is the one that the web app writes, field by field; fields of others stay.
func TestVote_IsTheAppsOwnDocument(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.world.Edit(poll.VotePath(d.poll, "ana"), store.Set("ofAnother", "kept"))
	form := d.form()
	options := form.Data.Components[0].Component.Options
	d.after(time.Minute)
	said := d.says(d.submit(form.Data.CustomID, []string{options[1].Value}, []string{options[0].Value, options[1].Value}, false))
	want := "Your vote (times in Europe/Berlin):\n✓ Tue 10 Mar, 11:00–12:00\n★ Tue 10 Mar, 16:00–18:00"
	if said != want {
		t.Errorf("said %q, want %q", said, want)
	}
	got := d.vote()
	at, _ := got["updatedAt"].(time.Time)
	if !at.Equal(d.world.Clock.Now()) {
		t.Errorf("updated at %v", got["updatedAt"])
	}
	delete(got, "updatedAt")
	if want := map[string]any{
		"voterId": "ana", "userEmail": "ana@example.com", "userAvatar": "https://pictures.example/ana",
		"votes":       map[string]any{d.slots[0]: "FEASIBLE", d.slots[1]: "PREFERRED"},
		"noTimesWork": false, "source": "discord", "lastVotedFrom": "discord", "ofAnother": "kept",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("the vote is %v, want %v", got, want)
	}
}

func TestVote_OfNothing_IsWithdrawn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	if said := d.says(d.submit(d.form().Data.CustomID, nil, nil, false)); said != "Your vote is withdrawn." {
		t.Errorf("said %q", said)
	}
	if votes := d.vote()["votes"]; !reflect.DeepEqual(votes, map[string]any{}) {
		t.Errorf("the vote is %v", votes)
	}
}

func TestVote_ForNoneOfTheTimes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	if said := d.says(d.submit(d.form().Data.CustomID, nil, nil, true)); said != "Your vote: none of the times work for you." {
		t.Errorf("said %q", said)
	}
	if d.vote()["noTimesWork"] != true {
		t.Errorf("the vote is %v", d.vote())
	}
}

// An interaction that comes again has taken effect, and has no second one.
func TestVote_ThatComesAgain_TakesEffectOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	form := d.form()
	options := form.Data.Components[0].Component.Options
	again := d.submit(form.Data.CustomID, []string{options[0].Value}, nil, false)
	d.says(again)
	d.says(d.submit(form.Data.CustomID, nil, nil, true)) // another press, later
	if said := d.says(again); said != "Done already." {
		t.Errorf("the repeat was told %q", said)
	}
	if d.vote()["noTimesWork"] != true {
		t.Errorf("the repeat won over the later vote: %v", d.vote())
	}
}

// Each row is refused, and writes nothing.
func TestVote_Refused_WritesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before func(d *desk)
		change func(in map[string]any)
		none   bool
		says   string
	}{
		"while the slots changed": {
			before: func(d *desk) {
				d.world.Edit(poll.SlotPath(d.poll, d.slots[0]), store.Set("end", worldtest.Ten.End.Add(time.Hour)))
			}, says: "Press Vote again",
		},
		"after the session was finalised": {
			before: func(d *desk) {
				if _, err := d.world.Finalise(d.poll, d.slots[0]); err != nil {
					d.t.Fatal(err)
				}
			}, says: "open",
		},
		"for none and for some": {none: true, says: "one or the other"},
		"without the form's fields": {change: func(in map[string]any) {
			data, _ := in["data"].(map[string]any)
			data["components"] = []any{}
		}, says: "Press Vote again"},
		"below another document": {change: func(in map[string]any) {
			data, _ := in["data"].(map[string]any)
			data["custom_id"] = "qs:vote:x/basicPolls/" + strings.TrimPrefix(fmt.Sprint(data["custom_id"]), "qs:vote:")
		}, says: "no such poll"},
		"by nobody who is linked": {change: asUser("3300000000000000001"), says: "not linked"},
		"in another guild":        {change: func(in map[string]any) { in["guild_id"] = "4400000000000000001" }, says: "another server"},
		"outside of guilds":       {change: func(in map[string]any) { delete(in, "guild_id") }, says: "another server"},
		"by somebody else": {
			before: func(d *desk) { d.link("3300000000000000002", "stranger") }, change: asUser("3300000000000000002"), says: "no such poll",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			form := d.form()
			if row.before != nil {
				row.before(d)
			}
			before := d.world.Votes(d.poll)
			in := d.submit(form.Data.CustomID, []string{form.Data.Components[0].Component.Options[0].Value}, nil, row.none)
			if row.change != nil {
				row.change(in)
			}
			if said := d.says(in); !strings.Contains(strings.ToLower(said), strings.ToLower(row.says)) {
				t.Errorf("said %q, want %q", said, row.says)
			}
			if after := d.world.Votes(d.poll); !reflect.DeepEqual(after, before) {
				t.Errorf("the votes are %v, were %v", after, before)
			}
		})
	}
}

func TestVote_OfAClosedPoll_SaysWhen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	if _, err := d.world.Finalise(d.poll, d.slots[1]); err != nil {
		t.Fatal(err)
	}
	d.after(time.Minute)
	if said := d.says(d.button("vote_btn:" + d.poll)); said != "Voting is closed: the session takes place Tue 10 Mar, 16:00–18:00 (Europe/Berlin)." {
		t.Errorf("said %q", said)
	}
}

// A person's own zone, by the web app's settings, comes before the poll's.
func TestVote_ShowsTimesInOnesOwnZone(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"chosen":             {map[string]any{"timezone": "America/New_York"}, "America/New_York"},
		"chosen, turned off": {map[string]any{"timezone": "America/New_York", "autoConvertPollTimes": false}, "Europe/Berlin"},
		"none that is known": {map[string]any{"timezone": "The/Moon"}, "Europe/Berlin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			d.write(store.Doc("users", "ana"), store.Set("settings", row.settings))
			if shown := d.form().Data.Components[0].Description; shown != "Times in "+row.want {
				t.Errorf("shows %q", shown)
			}
		})
	}
}

// A vote costs what it costs over REST, the two reads of who votes, and the write of the record.
func TestVote_CostsTwoReadsAndAWriteMoreThanOverREST(t *testing.T) {
	t.Parallel()
	var counter *storetest.Counter
	d := newDeskOver(t, worldtest.Options{Wrap: func(inner store.Store) store.Store {
		counter = storetest.Count(inner)
		return counter
	}}, nil)
	form := d.form()
	option := form.Data.Components[0].Component.Options[0].Value
	d.world.Vote(d.poll, "ana", map[string]string{d.slots[1]: poll.Feasible})
	d.after(time.Minute)
	counter.Reset()
	if _, err := d.world.Scheduler.Vote(t.Context(), worldtest.Person("ana"), d.poll,
		scheduler.Vote{Choices: map[string]string{d.slots[0]: poll.Preferred}}, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	rest := counter.Reset()
	d.world.Vote(d.poll, "ana", map[string]string{d.slots[1]: poll.Feasible})
	d.after(time.Minute)
	counter.Reset()
	d.says(d.submit(form.Data.CustomID, []string{option}, nil, false))
	if got, most := counter.Reset(), rest.Add(storetest.Cost{Reads: 2, Writes: 1}); !got.Within(most) {
		t.Errorf("a vote costs %+v, over REST %+v", got, rest)
	} else {
		t.Logf("a vote costs %+v, over REST %+v", got, rest)
	}
}

// Discord refuses a form that breaks its limits, whatever the poll holds.
func TestForm_OfAnyPoll_KeepsDiscordsLimits(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 2, 24, 25, 26, 49, 50, 51} {
		t.Run(fmt.Sprintf("of %d slots", count), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			d.fill(count)
			status, answer := d.send(d.button("vote_btn:" + d.poll))
			if count > 50 {
				if answer.Kind != 4 || !strings.Contains(answer.Data.Content, "too large") {
					t.Errorf("answered %d %+v", status, answer)
				}
				return
			}
			chosen := map[string]bool{}
			parts := len(answer.Data.Components)
			if answer.Kind != 9 || parts < 1 || parts > 5 || longer(answer.Data.Title, 45) || len(answer.Data.CustomID) > 100 {
				t.Fatalf("the form has %d parts, title %q, id %q", parts, answer.Data.Title, answer.Data.CustomID)
			}
			for _, label := range answer.Data.Components {
				if label.Kind != 18 || longer(label.Label, 45) || longer(label.Description, 100) || label.Component == nil {
					t.Fatalf("a label is %+v", label)
				}
				one := label.Component
				if one.Kind == 23 {
					continue
				}
				if one.Kind != 3 || len(one.Options) < 1 || len(one.Options) > 25 || one.MinValues == nil || *one.MinValues != 0 ||
					one.Required == nil || *one.Required || one.MaxValues != len(one.Options) {
					t.Errorf("a select is %+v", one)
				}
				for _, option := range one.Options {
					if longer(option.Label, 100) || len(option.Value) > 100 || chosen[one.CustomID+option.Value] {
						t.Errorf("an option is %+v", option)
					}
					chosen[one.CustomID+option.Value] = true
				}
			}
			if len(chosen) != 2*count {
				t.Errorf("offers %d answers for %d slots", len(chosen), count)
			}
		})
	}
}

func longer(text string, most int) bool { return utf8.RuneCountInString(text) > most }

// fill gives the desk's poll so many slots, with ids as long as they may be, and a long title.
func (d *desk) fill(count int) {
	d.t.Helper()
	d.world.Edit(poll.Path(d.poll), store.Set("title", strings.Repeat("Ö", 200)))
	err := d.world.Documents.Run(d.t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, slot := range d.slots {
			if err := tx.Delete(poll.SlotPath(d.poll, slot)); err != nil {
				return err
			}
		}
		for i := range count {
			at := worldtest.Ten.Start.AddDate(0, 0, i)
			slot := poll.Slot{ID: fmt.Sprintf("%0128d", i), Start: at, End: at.Add(30 * time.Hour), Source: poll.SourcePoll}
			if err := tx.Set(poll.SlotPath(d.poll, slot.ID), poll.EncodeSlot(slot)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// Who is named where votes are shown; numbers alone where they are hidden.
func TestWho_NamesWhoIsMissing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.link("3300000000000000003", "ben")
	d.write(store.Doc("users", "cho"), store.Set("displayName", "<@everyone> **cho**"))
	for _, person := range []string{"ana", "ben", "cho"} {
		if _, err := d.world.Scheduler.Vote(t.Context(), worldtest.Person(person), d.poll, scheduler.Vote{}, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	}
	said := d.says(d.button("qs:who:" + d.poll))
	for _, want := range []string{"<@" + anaUser + ">", "<@3300000000000000003>", "cho"} {
		if !strings.Contains(said, want) {
			t.Errorf("said %q, without %q", said, want)
		}
	}
	if strings.Contains(said, "everyone>") || strings.Contains(said, "**") || strings.Contains(said, "@example.com") {
		t.Errorf("said %q", said)
	}
	d.world.Edit(poll.Path(d.poll), store.Set("voteVisibility", "hidden"), store.Set("hideVoterIdentities", true))
	d.world.Vote(d.poll, "ben", map[string]string{d.slots[0]: poll.Feasible})
	if said := d.says(d.button("qs:who:" + d.poll)); strings.Contains(said, "<@") || !strings.Contains(said, "have voted.") {
		t.Errorf("said %q where votes are hidden", said)
	}
}

// Who left a group learns nothing of its people by an older poll.
func TestWho_OfAPollWhoseCreatorLeftTheGroup_NamesNoMemberToThem(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.link(eveUser, "eve")
	d.world.Edit(poll.Path(d.poll), store.Set("creatorId", "eve"), store.Set("participantIds", []any{"eve"}))
	said := d.says(d.button("qs:who:"+d.poll, asUser(eveUser)))
	if strings.Contains(said, gmUser) || !strings.Contains(said, "0 of 1 have voted") {
		t.Errorf("said %q to eve", said)
	}
	said = d.says(d.button("qs:who:" + d.poll))
	if !strings.Contains(said, gmUser) {
		t.Errorf("said %q to a member", said)
	}
}

// An id that leads to another document shows no poll of its last part.
func TestPollID_ThatIsAPath_IsNoPolls(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.link("3300000000000000002", "stranger")
	group := d.world.View(d.poll).Poll.GroupID
	path := store.Doc("schedulers", "x", "basicPolls", d.poll)
	d.write(path, store.Set("creatorId", "stranger"), store.Set("questingGroupId", group), store.Set("title", "Mine"))
	for _, id := range []string{"qs:who:", "vote_btn:", "qs:menu:"} {
		if said := d.says(d.button(id+"x/basicPolls/"+d.poll, asUser("3300000000000000002"))); !strings.Contains(strings.ToLower(said), "no such poll") {
			t.Errorf("%s said %q", id, said)
		}
	}
}
