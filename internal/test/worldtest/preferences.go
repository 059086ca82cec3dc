package worldtest

import (
	"fmt"
	"slices"
	"strings"

	"questscheduler/demo/sim/discord"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// preferences are what the world's people turned off in the web app before anything
// happened.
type preferences struct {
	// muted are the web app's types of notifications that each person muted.
	muted map[string][]string
	// off are settings of the group's Discord messages, each false.
	off map[string]bool
}

// Mute has a person want none of the web app's types of notifications in the app.
func (w *World) Mute(person string, types ...string) {
	w.t.Helper()
	chosen := map[string]any{"VOTE_SUBMITTED": "muted"}
	for _, kind := range types {
		chosen[kind] = "muted"
	}
	w.Write(store.Doc("users", person),
		store.Update{Path: store.Field("settings", "notificationMode"), Value: "advanced"},
		store.Update{Path: store.Field("settings", "notificationPreferences"), Value: chosen})
	if w.past.preferences.muted == nil {
		w.past.preferences.muted = map[string][]string{}
	}
	w.past.preferences.muted[person] = types
}

// TurnOff has the party that is made next want no Discord messages by some settings.
func (w *World) TurnOff(settings ...string) {
	w.past.preferences.off = map[string]bool{}
	for _, name := range settings {
		w.past.preferences.off[name] = false
	}
}

// mutes reports whether a person wants no notice of a kind; "": of some kind.
func (p preferences) mutes(person string, kind rules.Notice) bool {
	goesBy := map[rules.Notice]string{
		"SESSION_RESCHEDULED": "SLOT_CHANGED", "SESSION_RESTORED": "SLOT_CHANGED", "SESSION_CANCELLED": "POLL_CANCELLED",
		"SESSION_ON_AGAIN": "POLL_RESTORED",
	}
	if kind == "" {
		return len(p.muted[person]) > 0
	}
	return slices.Contains(p.muted[person], goesBy[kind])
}

// messageProblem says what is wrong with a message in the group's channel, by its text; ""
// if nothing is.
func (p preferences) messageProblem(message discord.Message) string {
	setting := "finalizationEvents"
	if strings.Contains(message.Content, "has been rescheduled to") || strings.Contains(message.Content, "has been restored to") {
		setting = "slotChanges"
	}
	if _, off := p.off[setting]; off {
		return fmt.Sprintf("the group turned %s off, and its channel has %q", setting, message.Content)
	}
	return ""
}
