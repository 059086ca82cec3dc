package scheduler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/discord"
	"questscheduler/fault"
	codes "questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// cardsIn are the buttons of the cards that a poll has in a channel.
func cardsIn(w *worldtest.World, channelID, pollID string) (cards []string) {
	for _, message := range w.Discord.Messages(channelID) {
		isCard := func(c json.RawMessage) bool { return strings.Contains(string(c), "vote_btn:"+pollID) }
		if i := slices.IndexFunc(message.Components, isCard); i >= 0 {
			cards = append(cards, string(message.Components[i]))
		}
	}
	return cards
}

// shownOnceIn fails unless a poll has one card in a channel, which people can vote by.
func shownOnceIn(t *testing.T, w *worldtest.World, channelID, pollID string) {
	t.Helper()
	cards, known := cardsIn(w, channelID, pollID), w.View(pollID).Poll.Discord
	if len(cards) != 1 || strings.Contains(cards[0], `"disabled":true`) {
		t.Errorf("the channel has the cards %q of an open poll", cards)
	}
	equal(t, "the card's channel, by the poll", known.ChannelID+known.Error, channelID)
}

// channelWays are how a group gets a channel.
var channelWays = map[string]func(w *worldtest.World, groupID string, at scheduler.Place) error{
	"its creator links it": func(w *worldtest.World, groupID string, at scheduler.Place) error {
		_, err := w.Scheduler.LinkChannel(w.Context(), gm, groupID, at)
		return err
	},
	"by a code": func(w *worldtest.World, groupID string, at scheduler.Place) error {
		_, err := byCode(w, "gm", groupID, at)
		return err
	},
	"an admin sets it": func(w *worldtest.World, groupID string, at scheduler.Place) error {
		ask := scheduler.EditGroup{Discord: &poll.GroupDiscord{GuildID: at.GuildID, ChannelID: at.ChannelID}}
		_, err := w.Scheduler.UpdateGroup(w.Context(), worldtest.Admin, groupID, ask)
		return err
	},
}

// cardsWork is where the work for the cards of a group's polls is.
func cardsWork(groupID string) store.Path {
	return poll.GroupWorkPath(poll.CardsWork(groupID, "", "", time.Time{}).ID)
}

// unlinked is a group of gm's without a channel, and an open poll of it.
func unlinked(t *testing.T) (w *worldtest.World, groupID, pollID string) {
	t.Helper()
	w = worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	groupID = w.Party()
	if _, err := w.Scheduler.UnlinkChannel(t.Context(), here); err != nil {
		t.Fatal(err)
	}
	pollID, _ = w.PollOf("gm", scheduler.Create{GroupID: groupID})
	w.Run(time.Hour)
	return w, groupID, pollID
}

// Nobody writes the poll in between: the change of the channel alone has it shown.
func TestGroup_GivenAChannel_ShowsItsOpenPollsThere(t *testing.T) {
	t.Parallel()
	for name, give := range channelWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, groupID, pollID := unlinked(t)
			equal(t, "messages before", len(w.Discord.Messages(there.ChannelID)), 0)
			for range 2 {
				if err := give(w, groupID, there); err != nil {
					t.Fatal(err)
				}
				w.RunDue() // at once: no drain has to find it
				shownOnceIn(t, w, there.ChannelID, pollID)
			}
			w.Run(time.Hour)
			shownOnceIn(t, w, there.ChannelID, pollID)
			equal(t, "messages in all", len(w.Discord.Messages(there.ChannelID)), 1)
		})
	}
}

func TestGroup_GivenAnotherChannel_MovesItsCards_AndBack(t *testing.T) {
	t.Parallel()
	for name, give := range channelWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := inChannel(t, poll.JoinMembers)
			groupID := w.View(s.poll).Poll.GroupID
			shownOnceIn(t, w, here.ChannelID, s.poll)
			for _, at := range []scheduler.Place{there, here, there} {
				if err := give(w, groupID, at); err != nil {
					t.Fatal(err)
				}
				w.RunDue()
				left := map[string]string{here.ChannelID: there.ChannelID, there.ChannelID: here.ChannelID}[at.ChannelID]
				shownOnceIn(t, w, at.ChannelID, s.poll)
				for _, card := range cardsIn(w, left, s.poll) {
					if !strings.Contains(card, `"disabled":true`) {
						t.Errorf("the card that was left can be voted by still: %s", card)
					}
				}
			}
		})
	}
}

// People take part by the card in the group's channel, wherever the group was before.
func TestGroup_GivenAnotherChannel_LetsPeopleJoinFromThere(t *testing.T) {
	t.Parallel()
	w, s := inChannel(t, poll.JoinChannel)
	if err := channelWays["its creator links it"](w, w.View(s.poll).Poll.GroupID, there); err != nil {
		t.Fatal(err)
	}
	w.RunDue()
	vote := func(person, channelID string) fault.Kind {
		form := formOf(w, s)
		form.Channel = channelID
		ask := scheduler.Vote{Choices: map[string]string{w.View(s.poll).Slots[0].Option(): poll.Preferred}, Form: form}
		_, err := w.Scheduler.Vote(t.Context(), worldtest.Person(person), s.poll, ask, worldtest.Cause)
		return fault.KindOf(err)
	}
	equal(t, "from the channel that was, refused as", vote("cho", here.ChannelID), fault.NotFound)
	equal(t, "from the new channel, refused as", vote("cho", there.ChannelID), 0)
	equal(t, "participants", strings.Join(w.View(s.poll).Poll.ParticipantIDs, " "), "gm cho")
}

// Whichever way a group loses its channel, nothing is posted or changed for that.
func TestGroup_GivenNoChannel_PostsNothing(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(w *worldtest.World, groupID string) error{
		"unlinked": func(w *worldtest.World, _ string) error {
			_, err := w.Scheduler.UnlinkChannel(w.Context(), here)
			return err
		},
		"an admin sets none": func(w *worldtest.World, groupID string) error {
			return channelWays["an admin sets it"](w, groupID, scheduler.Place{})
		},
		"an admin sets one, and then none": func(w *worldtest.World, groupID string) error {
			if err := channelWays["an admin sets it"](w, groupID, there); err != nil {
				return err
			}
			return channelWays["an admin sets it"](w, groupID, scheduler.Place{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := inChannel(t, poll.JoinMembers)
			before := fmt.Sprint(w.Discord.Messages(here.ChannelID))
			groupID := w.View(s.poll).Poll.GroupID
			if err := take(w, groupID); err != nil {
				t.Fatal(err)
			}
			equal(t, "work for its cards", w.Document(cardsWork(groupID)).Exists(), strings.Contains(name, "and then"))
			known, err := poll.LoadAnnouncement(t.Context(), w.Documents, s.poll)
			if err != nil {
				t.Fatal(err)
			}
			if next, err := w.Scheduler.CheckCards(t.Context(), groupID, "", worldtest.Cause); err != nil || next != "" {
				t.Errorf("it goes on at %q: %v", next, err)
			}
			after, err := poll.LoadAnnouncement(t.Context(), w.Documents, s.poll)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "ref of a card that is asked for", after.CardRef, known.CardRef)
			w.Run(time.Hour)
			equal(t, "messages", fmt.Sprint(w.Discord.Messages(here.ChannelID)), before)
			equal(t, "messages elsewhere", len(w.Discord.Messages(there.ChannelID)), 0)
		})
	}
}

// A change of a group's other settings reads and draws nothing.
func TestGroup_ThatKeepsItsChannel_HasNoCardCompared(t *testing.T) {
	t.Parallel()
	w, s := inChannel(t, poll.JoinMembers)
	groupID, name := w.View(s.poll).Poll.GroupID, "Another name"
	role := poll.GroupDiscord{GuildID: here.GuildID, ChannelID: here.ChannelID, NotifyRoleID: poll.NotifyNobody}
	for _, ask := range []scheduler.EditGroup{{Name: &name}, {Discord: &role}} {
		if _, err := w.Scheduler.UpdateGroup(t.Context(), worldtest.Admin, groupID, ask); err != nil {
			t.Fatal(err)
		}
		equal(t, "work for its cards", w.Document(cardsWork(groupID)).Exists(), false)
	}
}

// Sessions that are over, and polls that do not take place, get no card in a channel that their group
// is given later, and a card that they have stays where it is.
func TestGroup_GivenAChannel_LeavesWhatIsOverAlone(t *testing.T) {
	t.Parallel()
	for _, shown := range []bool{false, true} {
		t.Run(fmt.Sprintf("with cards elsewhere: %t", shown), func(t *testing.T) {
			t.Parallel()
			w, groupID, _ := unlinked(t)
			if shown {
				if err := channelWays["an admin sets it"](w, groupID, here); err != nil {
					t.Fatal(err)
				}
			}
			polls := map[string]string{}
			for _, name := range []string{"past", "to come", "cancelled", "archived"} {
				pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: groupID})
				polls[name] = pollID
				if name == "archived" {
					continue
				}
				slot := slots[0]
				if name == "to come" {
					slot = slots[1]
				}
				if _, err := w.Finalise(pollID, slot); err != nil {
					t.Fatal(err)
				}
			}
			pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: groupID})
			polls["open, of times that are past"] = pollID
			for _, slot := range slots {
				w.Write(poll.SlotPath(pollID, slot), poll.MoveSlot(rules.Timed(w.Clock.Now(), w.Clock.Now().Add(time.Hour)))...)
			}
			if _, err := w.Cancel(polls["cancelled"]); err != nil {
				t.Fatal(err)
			}
			w.Write(poll.Path(polls["archived"]), poll.Set("status", string(rules.Archived)))
			w.Run(time.Hour)
			end := w.View(polls["past"]).Winning.End
			w.Run(end.Sub(w.Clock.Now()))
			points := w.Points(func() {
				if err := channelWays["an admin sets it"](w, groupID, there); err != nil {
					t.Fatal(err)
				}
				w.RunDue()
			})
			for name, pollID := range polls {
				equal(t, name+": cards", len(cardsIn(w, there.ChannelID, pollID)), map[bool]int{true: 1}[name == "to come"])
			}
			equal(t, "messages posted", len(slices.DeleteFunc(points, func(p string) bool { return p != "before discord.post" })), 2)
		})
	}
}

// The bot may be let into a channel later: its link once more has the cards drawn.
func TestGroup_GivenItsChannelAgain_DrawsWhatDiscordRefused(t *testing.T) {
	t.Parallel()
	w, groupID, pollID := unlinked(t)
	w.OpenChannel(there.ChannelID, false, discord.SendMessages)
	link := func() {
		t.Helper()
		if err := channelWays["its creator links it"](w, groupID, there); err != nil {
			t.Fatal(err)
		}
		w.RunDue()
	}
	link()
	equal(t, "a problem is shown", w.View(pollID).Poll.Discord.Error != "", true)
	w.OpenChannel(there.ChannelID, false)
	link()
	shownOnceIn(t, w, there.ChannelID, pollID)
	w.PlantDiscord("messages.edit", func(f *worldtest.Fault) { f.Status, f.Reason, f.Times = 403, "50001", 1 })
	w.Vote(pollID, "gm", map[string]string{w.View(pollID).Slots[0].ID: poll.Feasible})
	w.RunDue()
	equal(t, "a problem with the card in place is shown", w.View(pollID).Poll.Discord.Error != "", true)
	link()
	shownOnceIn(t, w, there.ChannelID, pollID)
}

// A change may call for more than one piece of work: each is recorded, and woken.
func TestGroup_GivenAChannel_AndOtherMembers_HasBothFollowed(t *testing.T) {
	t.Parallel()
	w, groupID, pollID := unlinked(t)
	w.SetSharing(groupID, true)
	w.Run(time.Hour)
	ask := scheduler.EditGroup{Remove: []string{"ana"}, Discord: &poll.GroupDiscord{GuildID: there.GuildID, ChannelID: there.ChannelID}}
	if _, err := w.Scheduler.UpdateGroup(t.Context(), worldtest.Admin, groupID, ask); err != nil {
		t.Fatal(err)
	}
	sessions := poll.GroupWorkPath(poll.SessionsWork(groupID, "", "", time.Time{}).ID)
	equal(t, "they are one document", sessions == cardsWork(groupID), false)
	for _, path := range []store.Path{sessions, cardsWork(groupID)} {
		equal(t, string(path)+" is recorded", w.Document(path).Exists(), true)
	}
	w.RunDue()
	for _, path := range []store.Path{sessions, cardsWork(groupID)} {
		equal(t, string(path)+" is left", w.Document(path).Exists(), false)
	}
	shownOnceIn(t, w, there.ChannelID, pollID)
}

// Nobody is woken for a channel that is not given after all.
func TestLinkChannelByCode_NotCommitted_WakesNobody(t *testing.T) {
	t.Parallel()
	w, groupID, _ := unlinked(t)
	refused := fault.New(fault.Unavailable, "The store did not answer.")
	points := w.Points(func() {
		_, err := w.Scheduler.LinkChannelByCode(t.Context(), func(
			ctx context.Context, link func(ctx context.Context, tx store.Tx, of codes.GroupCode) error,
		) error {
			return w.Documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
				if err := link(ctx, tx, codes.GroupCode{UID: "gm", GroupID: groupID}); err != nil {
					t.Error(err)
				}
				return refused
			})
		}, there)
		equal(t, "refused as", fault.KindOf(err), fault.Unavailable)
	})
	equal(t, "somebody is woken", slices.Contains(points, "before wake"), false)
}

// manyPolls makes open polls of a group, of more than two pages.
func manyPolls(w *worldtest.World, groupID string) (ids []string) {
	for i := range 120 {
		id := fmt.Sprintf("poll-%03d", i)
		w.Write(poll.Path(id), poll.Set("title", "Many"), poll.Set("status", "OPEN"), poll.Set("creatorId", "gm"),
			poll.Set("questingGroupId", groupID), poll.Set("createdAt", w.Clock.Now()))
		w.Write(poll.SlotPath(id, "slot"), poll.MoveSlot(rules.Timed(worldtest.Ten.Start, worldtest.Ten.End))...)
		ids = append(ids, id)
	}
	return ids
}

// What was done before a death is on record, and is not done again.
func TestGroup_GivenAChannel_GoesOnWhereItDied(t *testing.T) {
	t.Parallel()
	for name, goOn := range map[string]func(*worldtest.World){
		"it is started again": (*worldtest.World).Restart, "another goes on": (*worldtest.World).TakeOver,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, groupID, first := unlinked(t)
			ids := append(manyPolls(w, groupID), first)
			w.Run(time.Minute)
			if err := channelWays["by a code"](w, groupID, there); err != nil {
				t.Fatal(err)
			}
			path := cardsWork(groupID)
			kept := ""
			var until func()
			until = func() { // it dies in the second page
				kept = poll.DecodeGroupWork(w.Document(path)).At
				if kept == "" {
					w.On("before store.run", until)
					return
				}
				w.Crash("before store.run")
			}
			w.On("before store.run", until)
			lived, _ := w.Survives(w.RunDue)
			equal(t, "it lived", lived, false)
			goOn(w)
			asked := map[string]int{}
			check := w.Groups.CheckCards
			w.Groups.CheckCards = func(ctx context.Context, groupID, at string, cause scheduler.Cause) (string, error) {
				asked[at]++
				return check(ctx, groupID, at, cause)
			}
			w.Run(10 * time.Minute)
			for _, id := range ids {
				equal(t, "cards of "+id, len(cardsIn(w, there.ChannelID, id)), 1)
			}
			equal(t, "begun again", asked[""], 0)
			equal(t, "gone on with", asked[kept] > 0, true)
			equal(t, "work that is left", w.Document(path).Exists(), false)
		})
	}
}

// A death right after the commit, before anything was woken, leaves it to the drain.
func TestGroup_GivenAChannel_AndNobodyWoken_IsFoundByTheDrain(t *testing.T) {
	t.Parallel()
	w, groupID, pollID := unlinked(t)
	w.Crash("before wake")
	lived, _ := w.Survives(func() {
		if err := channelWays["its creator links it"](w, groupID, there); err != nil {
			t.Error(err)
		}
	})
	equal(t, "it lived", lived, false)
	w.TakeOver()
	w.Run(2 * time.Minute)
	shownOnceIn(t, w, there.ChannelID, pollID)
}

func isTransaction(point string) bool { return strings.HasSuffix(point, "store.run") }

// Reading costs what a group has of polls, and only those whose card is elsewhere are written.
func TestCheckCards_WritesNothingForCardsInPlace(t *testing.T) {
	t.Parallel()
	w, s := inChannel(t, poll.JoinMembers)
	groupID := w.View(s.poll).Poll.GroupID
	points := w.Points(func() {
		next, err := w.Scheduler.CheckCards(t.Context(), groupID, "", worldtest.Cause)
		if err != nil || next != "" {
			t.Errorf("it goes on at %q: %v", next, err)
		}
	})
	equal(t, "transactions", slices.ContainsFunc(points, isTransaction), false)
	w.Write(poll.Path(s.poll), poll.Set("status", string(rules.Archived)))
	w.Write(poll.GroupPath(groupID), store.Update{Path: store.Field("discord", "channelId"), Value: there.ChannelID})
	points = w.Points(func() {
		if _, err := w.Scheduler.CheckCards(t.Context(), groupID, "", worldtest.Cause); err != nil {
			t.Error(err)
		}
	})
	equal(t, "transactions for a poll that is archived", slices.ContainsFunc(points, isTransaction), false)
	for _, groupID := range []string{"gone", "a/b", ""} {
		if next, err := w.Scheduler.CheckCards(t.Context(), groupID, "", worldtest.Cause); err != nil || next != "" {
			t.Errorf("for the group %q it goes on at %q: %v", groupID, next, err)
		}
	}
}

// A group that changes its channel while the work of the change before runs is shown in the last.
func TestGroup_GivenChannelsOneAfterTheOther_IsShownInTheLast(t *testing.T) {
	t.Parallel()
	w, groupID, pollID := unlinked(t)
	ids := append(manyPolls(w, groupID), pollID)
	w.Run(time.Minute)
	if err := channelWays["by a code"](w, groupID, there); err != nil {
		t.Fatal(err)
	}
	var asked []string
	check := w.Groups.CheckCards
	w.Groups.CheckCards = func(ctx context.Context, groupID, at string, cause scheduler.Cause) (string, error) {
		asked = append(asked, at)
		next, err := check(ctx, groupID, at, cause)
		if len(asked) > 1 {
			return next, err
		}
		if given := channelWays["by a code"](w, groupID, here); given != nil {
			t.Error(given)
		}
		return next, err
	}
	w.Run(10 * time.Minute)
	for _, id := range ids {
		equal(t, "channel of the card of "+id, poll.Decode(w.Document(poll.Path(id))).Discord.ChannelID, here.ChannelID)
	}
	equal(t, "work that is left", w.Document(cardsWork(groupID)).Exists(), false)
	equal(t, "page that came after the change", asked[1], "")
}
