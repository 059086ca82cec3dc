package notify

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// preference names the settings of the web app that turn a notice off. It has none for
// these notices themselves, so each goes by that of the web app's notice nearest to it.
type preference struct {
	person string // in settings.notificationPreferences of users/{uid}
	group  string // in discord.notifications of questingGroups/{id}
}

var preferences = map[rules.Notice]preference{
	rules.NoticeRescheduled: {"SLOT_CHANGED", "slotChanges"},
	rules.NoticeRestored:    {"SLOT_CHANGED", "slotChanges"},
	rules.NoticeCancelled:   {"POLL_CANCELLED", "finalizationEvents"},
	rules.NoticeOnAgain:     {"POLL_RESTORED", "finalizationEvents"},
}

// mutedBy reports whether a person, whose document of users is given, wants no notification
// of a notice in the app. Only an explicit choice in the advanced mode counts.
func mutedBy(person store.Document, notice rules.Notice) bool {
	settings := store.Fields(person.Data).Map("settings")
	return settings.String("notificationMode") == "advanced" &&
		settings.Map("notificationPreferences").String(preferences[notice].person) == "muted"
}

// mutedIn reports whether a group wants no message of a notice in its channel.
func mutedIn(group *poll.Group, notice rules.Notice) bool {
	wanted, chosen := group.Discord.Notifications[preferences[notice].group]
	return chosen && !wanted
}

// withoutMuted returns those of people who have not muted a notice, in their order.
func withoutMuted(ctx context.Context, reader store.Reader, people []string, notice rules.Notice) ([]string, error) {
	paths := make([]store.Path, len(people))
	for i, uid := range people {
		paths[i] = userPath(uid)
	}
	documents, err := reader.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	var left []string
	for i, uid := range people {
		if !mutedBy(documents[i], notice) {
			left = append(left, uid)
		}
	}
	return left, nil
}
