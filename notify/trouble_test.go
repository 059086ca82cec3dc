package notify_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/storetest"
)

func TestHandle_Refusal_IsRecordedAndHoldsUpNothing(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		rule   control.Rule
		reason string // in the sentence on the poll
	}{
		{"unknown channel", control.Rule{Status: 404, Reason: "10003"}, "channel is gone"},
		{"missing access", control.Rule{Status: 403, Reason: "50001"}, "cannot see"},
		{"missing permission", control.Rule{Status: 403, Reason: "50013"}, "may not post"},
		{"archived thread", control.Rule{Status: 400, Reason: "50083"}, "archived"},
		{"bad form", control.Rule{Status: 400, Reason: "50035"}, "refused the message"},
		{"token refused", control.Rule{Status: 401}, "token"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			row.rule.Match = "messages.*"
			w.plant(row.rule)
			w.move(moved)
			ref := w.want("gm", 0)
			w.mustEnd()

			wantTexts(t, "ana", w.bell("ana"), movedBody)
			a := w.announcement()
			if got := a.Channels["discord"]; got.Ref != ref || !strings.Contains(got.Error, row.reason) {
				t.Errorf("delivery of the message %+v", got)
			}
			if got := a.Channels["card"]; !strings.Contains(got.Error, row.reason) {
				t.Errorf("delivery of the card %+v", got)
			}
			if a.Announced.Ref != ref || !a.Due.IsZero() {
				t.Errorf("announcement %+v", a)
			}
			if p := w.poll(); !strings.Contains(p.Discord.Error, row.reason) || p.Status != "FINALIZED" {
				t.Errorf("poll %+v", p.Discord)
			}

			w.discord.Control().Clear()
			w.restore()
			w.want("gm", 0)
			w.mustEnd()
			wantTexts(t, "messages", contents(w.messages(channel)), restoredMessage)
			if p := w.poll(); p.Discord.Error != "" || w.field("Status") != "FINALIZED" {
				t.Errorf("solved, and still %q on the poll", p.Discord.Error)
			}
			if a := w.announcement(); a.Channels["card"].Error != "" || a.Channels["discord"].Error != "" {
				t.Errorf("deliveries %+v", a.Channels)
			}
		})
	}
}

func TestHandle_OwnTransitionsAfterARefusal_ClearsTheProblem(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.onDiscord.Cards = false
	w.plant(control.Rule{Match: "messages.create", Status: 403, Reason: "50013", Times: 1})
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	if w.poll().Discord.Error == "" {
		t.Fatal("nothing is recorded")
	}
	w.restore()
	w.want("gm", 0)
	w.mustEnd()
	if got := w.poll().Discord.Error; got != "" {
		t.Errorf("still %q", got)
	}
}

func TestHandle_BotMayEditAndNotPost_ShowsTheProblemUntilItMay(t *testing.T) {
	t.Parallel()
	w := announced(t)
	if err := w.discord.AddChannel(discord.Channel{
		ID: channel, GuildID: guildID, Denied: []discord.Permission{discord.SendMessages},
	}); err != nil {
		t.Fatal(err)
	}
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	if got := w.poll().Discord.Error; !strings.Contains(got, "may not post") {
		t.Errorf("trouble %q", got)
	}
	if got := w.field("Status"); got != "RESCHEDULED" {
		t.Errorf("the card shows %q", got)
	}
	w.checkCard()
	if got := w.poll().Discord.Error; !strings.Contains(got, "may not post") {
		t.Errorf("after another drawing: trouble %q", got)
	}
	if err := w.discord.AddChannel(discord.Channel{ID: channel, GuildID: guildID}); err != nil {
		t.Fatal(err)
	}
	w.restore()
	w.want("gm", 0)
	w.mustEnd()
	if got := w.poll().Discord.Error; got != "" {
		t.Errorf("solved, and still %q", got)
	}
}

func TestHandle_TemporaryError_IsRetriedWithoutDuplicates(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		rule  control.Rule
		after time.Duration // that the verdict asks for at least
	}{
		{"rate limited", control.Rule{Status: 429, Reason: "2.5", Times: 1}, 2500 * time.Millisecond},
		{"rate limited globally", control.Rule{Status: 429, Reason: "global 4", Times: 1}, 4 * time.Second},
		{"server error", control.Rule{Status: 500, Times: 1}, 0},
		{"bad gateway", control.Rule{Status: 502, Times: 1}, 0},
		{"unavailable", control.Rule{Status: 503, Times: 1}, 0},
		{"the answer was lost", control.Rule{LostAnswer: true, Times: 1}, 0},
	} {
		for _, match := range []string{"messages.create", "messages.edit"} {
			t.Run(row.name+" at "+match, func(t *testing.T) {
				t.Parallel()
				w := announced(t)
				rule := row.rule
				rule.Match = match
				w.plant(rule)
				w.move(moved)
				w.want("gm", 0)
				verdict := w.run()
				if verdict.Outcome != runFailed || verdict.After < row.after || verdict.After > 10*time.Second {
					t.Fatalf("the run ends as %+v", verdict)
				}
				w.clock.add(verdict.After)
				if verdict := w.run(); verdict.Outcome != runDone {
					t.Fatalf("second run: %+v", verdict)
				}
				wantTexts(t, "messages", contents(w.messages(channel)), movedMessage)
				wantTexts(t, "ana", w.bell("ana"), movedBody)
				if got := w.field("Status"); got != "RESCHEDULED" {
					t.Errorf("the card shows %q", got)
				}
			})
		}
	}
}

func TestHandle_LostResponseAfterNonceExpired_IsFoundByItsMark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plant(control.Rule{Match: "messages.create", LostAnswer: true, Times: 1})
	w.makeCardPending()
	if verdict := w.run(); verdict.Outcome != runFailed { // the card
		t.Fatalf("the run ends as %+v", verdict)
	}
	w.clock.add(time.Hour)
	w.finalise()
	w.want("gm", 0)
	w.toTheEnd()
	if got := w.field("Status"); got != "FINALIZED" {
		t.Errorf("the card that was found shows %q", got)
	}
	w.plant(control.Rule{Match: "messages.create", LostAnswer: true, Times: 1})
	w.cancel()
	w.want("gm", 0)
	if verdict := w.run(); verdict.Outcome != runFailed { // the message
		t.Fatalf("the run ends as %+v", verdict)
	}
	w.clock.add(time.Hour)
	w.toTheEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage)
	if got := w.announcement().Channels["discord"].MessageID; got != w.messages(channel)[0].ID {
		t.Errorf("recorded as %q", got)
	}
}

func TestHandle_LostResponseWithoutHistory_IsFoundByItsNonce(t *testing.T) {
	t.Parallel()
	w := announced(t)
	if err := w.discord.AddChannel(discord.Channel{
		ID: channel, GuildID: guildID, Denied: []discord.Permission{discord.ReadMessageHistory},
	}); err != nil {
		t.Fatal(err)
	}
	w.plant(control.Rule{Match: "messages.create", LostAnswer: true, Times: 1})
	w.cancel()
	w.want("gm", 0)
	if verdict := w.run(); verdict.Outcome != runFailed {
		t.Fatalf("the run ends as %+v", verdict)
	}
	w.clock.add(time.Minute)
	w.toTheEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage)
}

func TestHandle_MessageDeletedAfterLostResponse_IsDelivered(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.plant(control.Rule{Match: "messages.create", LostAnswer: true, Times: 1})
	w.cancel()
	w.want("gm", 0)
	w.run()
	w.delete(w.messages(channel)[0].ID)
	w.clock.add(time.Minute)
	w.toTheEnd()
	wantTexts(t, "messages", contents(w.messages(channel)))
	if got := w.announcement().Channels["discord"]; got.Error != "" || got.MessageID != "" {
		t.Errorf("delivery %+v", got)
	}
	if got := w.poll().Discord.Error; got != "" {
		t.Errorf("trouble %q", got)
	}
}

// delete deletes a message, as a moderator does.
func (w *world) delete(id string) {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodDelete, "http://sim/api/v9/channels/"+channel+"/messages/"+id, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+token)
	answer, err := control.Transport(w.discord.Handler()).RoundTrip(req)
	if err != nil || answer.StatusCode != http.StatusNoContent {
		w.t.Fatalf("delete: %v %v", answer, err)
	}
}

func TestHandle_DeletedCard_IsPostedAgain(t *testing.T) {
	t.Parallel()
	w := announced(t)
	old := w.poll().Discord.MessageID
	w.delete(old)
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	w.checkCard()
	if got := w.field("Status"); got != "RESCHEDULED" {
		t.Errorf("the new card shows %q", got)
	}
	if got := w.poll().Discord.MessageID; got == old || got != w.cards(channel)[0].ID {
		t.Errorf("recorded as %q", got)
	}

	w.delete(w.poll().Discord.MessageID) // and again
	w.restore()
	w.want("gm", 0)
	w.mustEnd()
	if got := w.field("Status"); got != "FINALIZED" {
		t.Errorf("the third card shows %q", got)
	}
}

func TestHandle_ListedCardThatCannotBeEdited_IsReplaced(t *testing.T) {
	t.Parallel()
	w := announced(t)
	old := w.poll().Discord.MessageID
	w.plant(control.Rule{Match: "messages.edit", Status: 404, Reason: "10008", Times: 1})
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	if got := w.poll().Discord.MessageID; got == old || len(w.cards(channel)) != 2 {
		t.Errorf("the card is %q", got)
	}
}

func TestHandle_CardDeletedAfterLostResponse_IsPostedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plant(control.Rule{Match: "messages.create", LostAnswer: true, Times: 1})
	w.makeCardPending()
	w.run()
	w.delete(w.cards(channel)[0].ID)
	w.clock.add(time.Minute)
	w.toTheEnd()
	if got := w.field("Status"); got != "OPEN" {
		t.Errorf("status %q", got)
	}
}

func TestHandle_LostResponseToAnEdit_IsDrawnAgainAfterARestore(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.plant(control.Rule{Match: "messages.edit", LostAnswer: true, Times: 1})
	w.write(voteOf("cho", "s1"))
	w.makeCardPending()
	if verdict := w.run(); verdict.Outcome != runFailed {
		t.Fatalf("the run ends as %+v", verdict)
	}
	w.write(voteOf("cho", ""))
	w.toTheEnd()
	if got := w.field("Votes"); got != "1/4 voted (3 pending)" {
		t.Errorf("votes %q", got)
	}
}

func TestHandle_StoreUnavailable_IsRetried(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.cancel()
	w.want("gm", 0)
	verdict := runTask(w.interrupt(1, before))
	if verdict.Outcome != runFailed || verdict.Err == nil || !strings.Contains(verdict.Err.Error(), pollID) {
		t.Errorf("the run ends as %+v", verdict)
	}
}

func TestHandle_RefusalInTheOldChannel_IsClearedInTheNewOne(t *testing.T) {
	t.Parallel()
	w := announced(t)
	if err := w.discord.AddChannel(discord.Channel{ID: channel, GuildID: guildID, Gone: true}); err != nil {
		t.Fatal(err)
	}
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	if !strings.Contains(w.poll().Discord.Error, "channel is gone") {
		t.Fatalf("trouble %q", w.poll().Discord.Error)
	}
	w.setGroup("channelId", elsewhere)
	w.checkCard()
	if got := w.poll().Discord; got.Error != "" || got.ChannelID != elsewhere || len(w.cards(elsewhere)) != 1 {
		t.Errorf("card %+v", got)
	}
	wantTexts(t, "messages that come late", contents(w.messages(elsewhere)))
}

// Each write of the poll triggers another check of its card.
func TestCard_CheckedAgainWithAProblem_WritesNothing(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		rule control.Rule
	}{
		{"the card is refused", control.Rule{Match: "messages.*", Status: 403, Reason: "50013"}},
		{"the message was refused", control.Rule{Match: "messages.create", Status: 403, Reason: "50013"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			w.plant(row.rule)
			w.move(moved)
			w.want("gm", 0)
			w.mustEnd()
			if w.poll().Discord.Error == "" {
				t.Fatal("nothing is recorded")
			}
			before, err := w.store.Get(t.Context(), poll.Path(pollID))
			if err != nil {
				t.Fatal(err)
			}
			w.clock.add(time.Hour)
			w.checkCard()
			after, err := w.store.Get(t.Context(), poll.Path(pollID))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(before.Data["discord"], after.Data["discord"]) {
				t.Errorf("it wrote %v over %v", after.Data["discord"], before.Data["discord"])
			}
		})
	}
}

// Each transaction runs twice here: two documents twice, poll and group, and twice the
// announcement, whose card is no longer pending.
func TestCard_OfAGroupWithoutAChannel_ReadsNoVotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setGroup("channelId", nil)
	counted := storetest.Count(w.store)
	w.announcer, w.onDiscord = w.around(counted, w.onDiscord.API)
	w.checkCard()
	if n := counted.Total().Reads; n > 8 {
		t.Errorf("it reads %d documents", n)
	}
}
