package notify_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/store"
)

// steps are the four transitions that are announced, in an order in which each follows
// from the one before it.
var steps = []struct {
	notice        string
	change        func(*world)
	message, body string
}{
	{"SESSION_RESCHEDULED", func(w *world) { w.move(moved) }, movedMessage, movedBody},
	{"SESSION_RESTORED", (*world).restore, restoredMessage, restoredBody},
	{"SESSION_CANCELLED", (*world).cancel, cancelledMessage, cancelledBody},
	{"SESSION_ON_AGAIN", (*world).revive, onAgainMessage, onAgainBody},
}

// allSteps has each transition announced, and gives what ana's bell and the channel say.
// Nobody caused them, so that gm is notified of all.
func allSteps(t *testing.T, w *world) (bell, posted []string) {
	t.Helper()
	for _, step := range steps {
		step.change(w)
		w.want("", 0)
		w.mustEnd()
		w.mustEnd() // a second hand-over
		w.clock.add(time.Minute)
		if got := w.announcement(); !got.Due.IsZero() || got.Delivering.Ref != "" {
			t.Errorf("%s stays pending: %+v", step.notice, got)
		}
	}
	if got := w.field("Status"); got != "FINALIZED" {
		t.Errorf("the card's status is %q", got)
	}
	if edits := w.discord.Control().Calls()["messages.edit"]; edits < len(steps) {
		t.Errorf("the card was edited %d times: it shows every change", edits)
	}
	return w.bell("ana"), contents(w.messages(channel))
}

// without gives the texts of all steps but those of some notices.
func without(text func(i int) string, notices ...string) (left []string) {
	for i, step := range steps {
		if !slices.Contains(notices, step.notice) {
			left = append(left, text(i))
		}
	}
	return left
}

func bodyOf(i int) string { return steps[i].body }

func messageOf(i int) string { return steps[i].message }

func TestPreference_OfAPerson_SilencesTheirBellAlone(t *testing.T) {
	t.Parallel()
	muted := func(kinds ...string) map[string]any {
		chosen := map[string]any{}
		for _, kind := range kinds {
			chosen[kind] = "muted"
		}
		return map[string]any{"notificationMode": "advanced", "notificationPreferences": chosen}
	}
	for name, c := range map[string]struct {
		settings any
		silent   []string
	}{
		"absent":         {nil, nil},
		"moves":          {muted("SLOT_CHANGED"), []string{"SESSION_RESCHEDULED", "SESSION_RESTORED"}},
		"cancellations":  {muted("POLL_CANCELLED"), []string{"SESSION_CANCELLED"}},
		"restored polls": {muted("POLL_RESTORED"), []string{"SESSION_ON_AGAIN"}},
		"all": {
			muted("SLOT_CHANGED", "POLL_CANCELLED", "POLL_RESTORED"),
			[]string{"SESSION_RESCHEDULED", "SESSION_RESTORED", "SESSION_CANCELLED", "SESSION_ON_AGAIN"},
		},
		"kinds of ours": {muted("SESSION_RESCHEDULED", "SESSION_CANCELLED", "POLL_FINALIZED"), nil},
		"in the simple mode": {
			map[string]any{"notificationMode": "simple", "notificationPreferences": map[string]any{"SLOT_CHANGED": "muted"}}, nil,
		},
		"without a mode": {map[string]any{"notificationPreferences": map[string]any{"SLOT_CHANGED": "muted"}}, nil},
		"other values": {
			map[string]any{
				"notificationMode":        "advanced",
				"notificationPreferences": map[string]any{"SLOT_CHANGED": "email", "POLL_CANCELLED": false, "POLL_RESTORED": nil},
			},
			nil,
		},
		"mails":                 {map[string]any{"notificationMode": "advanced", "emailNotifications": false}, nil},
		"preferences of a type": {map[string]any{"notificationMode": "advanced", "notificationPreferences": "muted"}, nil},
		"settings of a type":    {"muted", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			w.write(func(tx store.Tx) error {
				return tx.Create(store.Doc("users", "ana"), map[string]any{"email": "ana@example.com", "settings": c.settings})
			})
			bell, posted := allSteps(t, w)
			wantTexts(t, "ana", bell, without(bodyOf, c.silent...)...)
			for _, other := range []string{"gm", "ben", "cho"} {
				wantTexts(t, other, w.bell(other), without(bodyOf)...)
			}
			wantTexts(t, "messages", posted, without(messageOf)...)
		})
	}
}

func TestPreference_OfAGroup_SilencesItsChannelAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chosen any
		silent []string
	}{
		"absent":   {nil, nil},
		"on":       {map[string]any{"slotChanges": true, "finalizationEvents": true}, nil},
		"moves":    {map[string]any{"slotChanges": false}, []string{"SESSION_RESCHEDULED", "SESSION_RESTORED"}},
		"the rest": {map[string]any{"finalizationEvents": false}, []string{"SESSION_CANCELLED", "SESSION_ON_AGAIN"}},
		"all": {
			map[string]any{"slotChanges": false, "finalizationEvents": false},
			[]string{"SESSION_RESCHEDULED", "SESSION_RESTORED", "SESSION_CANCELLED", "SESSION_ON_AGAIN"},
		},
		"other choices": {map[string]any{"voteSubmitted": false, "allVotesIn": false}, nil},
		"other types":   {map[string]any{"slotChanges": nil, "finalizationEvents": "false"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			w.setGroup("notifications", c.chosen)
			bell, posted := allSteps(t, w)
			wantTexts(t, "ana", bell, without(bodyOf)...)
			wantTexts(t, "messages", posted, without(messageOf, c.silent...)...)
		})
	}
}

// What a person or group chooses counts from the next notice on; none is made up for.
func TestPreference_ChangedLater_CountsFromThenOn(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.write(func(tx store.Tx) error {
		return tx.Create(store.Doc("users", "ana"), map[string]any{"settings": map[string]any{
			"notificationMode": "advanced", "notificationPreferences": map[string]any{"SLOT_CHANGED": "muted"},
		}})
	})
	w.setGroup("notifications", map[string]any{"slotChanges": false})
	w.move(moved)
	w.want("", 0)
	w.mustEnd()
	w.write(func(tx store.Tx) error {
		return tx.Update(store.Doc("users", "ana"), store.Update{Path: store.Field("settings", "notificationMode"), Value: "simple"})
	})
	w.setGroup("notifications", map[string]any{"slotChanges": true})
	w.checkCard()
	wantTexts(t, "ana, who muted it then", w.bell("ana"))
	wantTexts(t, "messages", contents(w.messages(channel)))
	w.restore()
	w.want("", 0)
	w.mustEnd()
	wantTexts(t, "ana", w.bell("ana"), restoredBody)
	wantTexts(t, "messages", contents(w.messages(channel)), restoredMessage)
}
