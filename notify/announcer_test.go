package notify_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
)

func TestHandle_Transition_IsDeliveredOncePerPersonAndChannel(t *testing.T) {
	t.Parallel()
	w := announced(t)
	if n := len(w.messages(channel)); n != 0 {
		t.Fatalf("finalising posted %d messages", n)
	}
	card := w.cards(channel)[0].ID
	for _, step := range []struct {
		change  func()
		status  string
		message string
		body    string
	}{
		{func() { w.move(moved) }, "RESCHEDULED", movedMessage, movedBody},
		{w.restore, "FINALIZED", restoredMessage, restoredBody},
		{w.cancel, "CANCELLED", cancelledMessage, cancelledBody},
		{w.revive, "FINALIZED", onAgainMessage, onAgainBody},
	} {
		step.change()
		w.want("gm", 0)
		w.discord.Control().ResetCalls()
		w.mustEnd()
		w.mustEnd() // a second hand-over of the same task

		calls := w.discord.Control().Calls()
		if calls["messages.create"] != 1 || calls["messages.edit"] != 1 || calls["messages.list"] != 0 {
			t.Errorf("%s: calls %v", step.status, calls)
		}
		lines := w.messages(channel)
		if got := lines[len(lines)-1].Content; got != step.message {
			t.Errorf("message %q, want %q", got, step.message)
		}
		if got := w.field("Status"); got != step.status {
			t.Errorf("the card's status is %q, want %q", got, step.status)
		}
		for _, uid := range []string{"ana", "ben", "cho"} {
			bell := w.bell(uid)
			if got := bell[len(bell)-1]; got != step.body {
				t.Errorf("%s reads %q, want %q", uid, got, step.body)
			}
		}
		w.clock.add(time.Minute)
	}
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage, restoredMessage, cancelledMessage, onAgainMessage)
	for _, uid := range []string{"ana", "ben", "cho"} {
		wantTexts(t, uid, w.bell(uid), movedBody, restoredBody, cancelledBody, onAgainBody)
	}
	wantTexts(t, "gm, who caused it all", w.bell("gm"))
	if got := w.cards(channel); len(got) != 1 || got[0].ID != card {
		t.Errorf("cards %+v", got)
	}
	if a := w.announcement(); !a.Due.IsZero() || a.Delivering.Ref != "" || a.Announced.Ref != a.Wanted.Ref {
		t.Errorf("something is still pending: %+v", a)
	}
}

func TestHandle_NotDueYet_WaitsAndAnnouncesNothing(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", 10*time.Second)
	w.clock.add(4 * time.Second)
	if verdict := w.run(); verdict.Outcome != runLater || verdict.After != 6*time.Second {
		t.Fatalf("the run ends as %+v", verdict)
	}
	wantTexts(t, "messages", contents(w.messages(channel)))
	wantTexts(t, "ana", w.bell("ana"))
	w.clock.add(6 * time.Second)
	w.mustEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage)
}

func TestHandle_MoveTakenBackBeforeDue_IsNotAnnounced(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", 10*time.Second)
	w.restore()
	last := w.want("gm", 10*time.Second)
	w.clock.add(10 * time.Second)
	w.mustEnd()
	wantTexts(t, "messages", contents(w.messages(channel)))
	wantTexts(t, "ana", w.bell("ana"))
	if a := w.announcement(); a.Announced.Ref != last || !a.Due.IsZero() {
		t.Errorf("announcement %+v", a)
	}
}

func TestHandle_TwoMovesBeforeDue_AnnouncesTheLast(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", 10*time.Second)
	w.move(movedOn)
	w.want("gm", 10*time.Second)
	w.clock.add(10 * time.Second)
	w.mustEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), movedOnMessage)
}

func TestHandle_CancellationTakenBackBeforeDue_IsNotAnnounced(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.cancel()
	w.want("gm", time.Minute)
	w.revive()
	w.want("gm", time.Minute)
	w.clock.add(2 * time.Minute)
	w.mustEnd()
	wantTexts(t, "messages", contents(w.messages(channel)))
	wantTexts(t, "ana", w.bell("ana"))

	w.cancel()
	w.want("gm", time.Minute)
	w.revive()
	w.move(moved)
	w.want("gm", time.Minute)
	w.clock.add(2 * time.Minute)
	w.mustEnd()
	wantTexts(t, "messages, once it came back at another time", contents(w.messages(channel)), movedMessage)
	wantTexts(t, "ana, once it came back at another time", w.bell("ana"), movedBody)
}

func TestHandle_OnAgainAtAnotherTime_AnnouncesTheNewTime(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.cancel()
	w.want("gm", 0)
	w.mustEnd()
	w.revive()
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage,
		"@everyone Session 'Curse of Strahd' is on again for "+
			"<t:1801683000:F>: "+movedDistance+"It was planned for <t:1801591200:F> before it was cancelled.")
	wantTexts(t, "ana", w.bell("ana"), cancelledBody,
		"Session 'Curse of Strahd' is on again for "+movedTime+": "+movedDistance+"It was planned for "+plannedTime+" before it was cancelled.")
}

func TestHandle_ChangeWithoutAnActor_NotifiesTheCreatorToo(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.cancel()
	w.want("", 0)
	w.mustEnd()
	wantTexts(t, "gm", w.bell("gm"), cancelledBody)
	list, _, err := notify.List(context.Background(), w.store, "gm", store.Paging{Limit: 0})
	if err != nil || len(list) != 1 || list[0].Actor != nil {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestHandle_CreatorWhoTakesNoPart_IsNotified(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.set(poll.Set("creatorId", "boss"))
	w.cancel()
	w.want("gm", 0)
	w.mustEnd()
	wantTexts(t, "boss", w.bell("boss"), cancelledBody)
}

func TestHandle_OfAPendingCard_DrawsItWhereItChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.checkCard()
	if got := w.field("Votes"); got != "1/4 voted (3 pending)" {
		t.Errorf("votes %q", got)
	}
	w.checkCard()
	if calls := w.discord.Control().Calls(); calls["messages.create"] != 1 || calls["messages.edit"] != 0 {
		t.Errorf("a card that shows the same was drawn again: %v", calls)
	}
	w.write(func(tx store.Tx) error {
		return tx.Merge(poll.VotePath(pollID, "cho"), poll.VoteUpdates(poll.Vote{UserID: "cho", NoTimesWork: true})...)
	})
	w.checkCard()
	if got := w.field("Votes"); got != "2/4 voted (2 pending)" {
		t.Errorf("votes %q", got)
	}
	w.discord.Control().ResetCalls()
	w.write(voteOf("cho", "s1"))
	w.mustEnd() // nothing says that the card changed
	if calls := w.discord.Control().Calls(); len(calls) != 0 {
		t.Errorf("calls %v", calls)
	}
}

func TestHandle_ChangeOfWhatTheCardShows_EditsIt(t *testing.T) {
	t.Parallel()
	w := announced(t)
	for name, change := range map[string]func(){
		"state":                       func() { w.set(store.Update{Path: poll.SyncField("state"), Value: "ERROR"}) },
		"end of the winning slot":     func() { w.setSlot("s1", "end", "2027-02-02T20:00:00.000Z") },
		"title":                       func() { w.set(poll.Set("title", "Another")) },
		"a participant more":          func() { w.set(poll.Set("participantIds", []any{"gm", "ana", "dan"})) },
		"start of another slot":       func() { w.setSlot("s2", "start", "2027-02-01T20:00:00.000Z") },
		"nothing that the card shows": nil,
	} {
		w.discord.Control().ResetCalls()
		want := 0
		if change != nil {
			change()
			want = 1
		} else {
			w.set(poll.Set("description", "Bring dice"))
		}
		w.checkCard()
		if got := w.discord.Control().Calls()["messages.edit"]; got != want {
			t.Errorf("%s: %d edits, want %d", name, got, want)
		}
	}
}

func TestHandle_CardPlace_IsWrittenByNamedFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.checkCard()
	doc, err := w.store.Get(context.Background(), poll.Path(pollID))
	if err != nil {
		t.Fatal(err)
	}
	card, placed := w.cards(channel)[0], store.Fields(doc.Data).Map("discord")
	for name, want := range map[string]any{
		"messageId": card.ID, "channelId": channel, "guildId": guildID, "lastStatus": "OPEN",
		"messageUrl":   "https://discord.com/channels/" + guildID + "/" + channel + "/" + card.ID,
		"lastPostedAt": w.clock.Now(), "lastUpdatedAt": w.clock.Now(),
		"pendingSync": false, "pendingSyncAt": nil, "pendingSyncError": nil, "foreign": "kept",
	} {
		if got := placed[name]; got != want {
			t.Errorf("discord.%s = %v, want %v", name, got, want)
		}
	}
	if placed.String("lastSyncedHash") == "" || doc.Data["timezoneMode"] != "fixed" {
		t.Errorf("document %v", doc.Data)
	}
}

func TestHandle_OwnTransitions_PostsMessagesAndNoCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.onDiscord.Cards = false
	w.set(store.Update{Path: store.Field("discord", "pendingSyncError"), Value: "theirs"})
	w.finalise()
	w.want("gm", 0)
	w.mustEnd()
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	wantTexts(t, "messages", contents(w.discord.Messages(channel)), movedMessage)
	if p := w.poll(); p.Discord.Error != "theirs" || p.Discord.MessageID != "" {
		t.Errorf("what is the web app's own was changed: %+v", p.Discord)
	}
}

func TestHandle_WithoutADiscordChannel_NotifiesInTheApp(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"the group has no channel": func(w *world) { w.setGroup("channelId", nil) },
		"the poll has no group":    func(w *world) { w.set(poll.Set("questingGroupId", nil)) },
		"the group is gone":        func(w *world) { w.set(poll.Set("questingGroupId", "other")) },
		"there is no Discord":      func(w *world) { w.announcer.Channels = w.announcer.Channels[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			change(w)
			w.finalise()
			w.want("gm", 0)
			w.mustEnd()
			w.move(moved)
			w.want("gm", 0)
			w.mustEnd()
			wantTexts(t, "ana", w.bell("ana"), movedBody)
			if n := len(w.discord.Messages(channel)); n != 0 {
				t.Errorf("%d messages", n)
			}
			if p := w.poll(); p.Discord.Error != "" {
				t.Errorf("trouble %q", p.Discord.Error)
			}
		})
	}
}

func TestHandle_DeletedPoll_HasNothingPending(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.cancel()
	w.want("gm", 0)
	w.write(func(tx store.Tx) error { return tx.Delete(poll.Path(pollID)) })
	w.discord.Control().ResetCalls()
	count := &tally{}
	w.announcer.Meter = count.count
	w.mustEnd()
	wantTexts(t, "ana", w.bell("ana"))
	wantTexts(t, "counted", count.counted)
	if calls := w.discord.Control().Calls(); len(calls) != 0 {
		t.Errorf("calls %v", calls)
	}
	due, err := store.Collect(poll.DueAnnouncements(context.Background(), w.store, w.clock.Now()))
	if err != nil || len(due) != 0 {
		t.Errorf("still due: %+v, %v", due, err)
	}
}

// Somebody deletes a poll and makes another one of the same id: nothing is announced of the first.
func TestHandle_AnotherPollOfItsID_IsNotAnnounced(t *testing.T) {
	t.Parallel()
	for name, repairs := range map[string]bool{"direct edits are ignored": false, "direct edits are repaired": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			repaired := false
			if repairs {
				w.announcer.Repair = func(context.Context, string, string) error { repaired = true; return nil }
			}
			w.cancel()
			w.want("gm", 0)
			w.clock.add(time.Hour)
			w.write(func(tx store.Tx) error { return tx.Delete(poll.Path(pollID)) })
			another := poll.New(poll.Poll{
				ID: pollID, Title: "Another", CreatorID: "ana", ParticipantIDs: []string{"gm", "ana"}, Timezone: "Europe/Berlin",
				CreatedAt: w.clock.Now(),
			})
			delete(another, "calendarSync") // as the web app makes it
			w.write(func(tx store.Tx) error { return tx.Create(poll.Path(pollID), another) })
			w.discord.Control().ResetCalls()
			w.mustEnd()
			wantTexts(t, "ana", w.bell("ana"))
			wantTexts(t, "gm", w.bell("gm"))
			if calls := w.discord.Control().Calls(); len(calls) != 0 || repaired != repairs {
				t.Errorf("calls %v, repaired %t", calls, repaired)
			}
			if a := w.announcement(); !a.Due.IsZero() {
				t.Errorf("still due: %+v", a)
			}
		})
	}
}

func TestHandle_IDOfNoPoll_IsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"nobody", "", "a/slots/b", "..", `{"id":"` + pollID + `"}`} {
		if verdict := runID(w.announcer, id); verdict.Outcome != runDone {
			t.Errorf("%q: verdict %+v", id, verdict)
		}
	}
}

func TestHandle_ArchivedPoll_KeepsTheAnnouncedState(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	w.set(poll.Set("status", "ARCHIVED"))
	w.want("gm", 0)
	w.mustEnd()
	w.set(poll.Set("status", "FINALIZED"))
	w.want("gm", 0)
	w.mustEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage)
}

func TestHandle_GroupOf500_IsNotifiedOnceEach(t *testing.T) {
	t.Parallel()
	w := announced(t)
	var members []any
	for i := range 500 {
		members = append(members, "member-"+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	w.write(func(tx store.Tx) error {
		return first(
			tx.Update(poll.GroupPath(groupID), poll.Set("creatorId", "gm"), poll.Set("memberIds", members)),
			tx.Update(poll.AnnouncementPath(pollID), poll.NamedUpdates(pollID, []string{"ana"})...), // who has voted since
		)
	})
	w.cancel()
	w.want("gm", 0)
	w.mustEnd()
	w.checkCard()
	for _, member := range members {
		if bell := w.bell(member.(string)); len(bell) != 1 {
			t.Fatalf("%v has %d notifications", member, len(bell))
		}
	}
	wantTexts(t, "ana", w.bell("ana"), cancelledBody)
	wantTexts(t, "named", w.announcement().Named)
	wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage)
}

func TestHandle_InvitedPeople_AreNotNotified(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.write(func(tx store.Tx) error {
		return tx.Update(poll.GroupPath(groupID), poll.Set("memberIds", []any{"gm", "ben"}), poll.Set("pendingMemberIds", []any{"dan"}))
	})
	w.cancel()
	w.want("gm", 0)
	w.mustEnd()
	wantTexts(t, "ben", w.bell("ben"), cancelledBody)
	wantTexts(t, "dan", w.bell("dan"))
}

func TestHandle_IdsThatNoDocumentCanHave_AreNobody(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.set(poll.Set("participantIds", []any{"gm", "ana", "a/b", "x/notifications/y", "..", "__x__"}))
	w.cancel()
	w.want("gm", 0)
	w.mustEnd()
	wantTexts(t, "ana", w.bell("ana"), cancelledBody)
	wantTexts(t, "below another's notification", w.bell("x/notifications/y"))
}

func TestHandle_NotificationReadDuringTheRun_StaysRead(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.cancel()
	w.want("gm", 0)
	blown := w.interrupt(1, after) // in-app documents are written, nothing after
	if verdict := runTask(blown); verdict.Outcome != runFailed {
		t.Fatalf("the run ends as %+v", verdict)
	}
	if n, err := notify.MarkAllRead(context.Background(), w.store, "ana"); n != 1 || err != nil {
		t.Fatalf("%d read, %v", n, err)
	}
	w.toTheEnd()
	list, _, err := notify.List(context.Background(), w.store, "ana", store.Paging{Limit: 0})
	if err != nil || len(list) != 1 || !list[0].Read {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestHandle_AnnouncementNotDueYet_DrawsTheCardAfterIt(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", time.Minute)
	w.toTheEnd()
	if got := w.field("Status"); got != "RESCHEDULED" {
		t.Errorf("status %q", got)
	}
}
