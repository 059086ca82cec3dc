package explain

import (
	"maps"
	"slices"
	"strings"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// rowOf is the row of the rules' tables that decided an entry, in words; "" for none.
func rowOf(entry poll.Entry) string {
	name, _, _ := strings.Cut(entry.Reason, ":")
	if entry.Trigger == outsideEdit {
		for _, row := range rules.Repairs() {
			if string(row.Repair) == name {
				return row.Documents
			}
		}
		return ""
	}
	if entry.Command != "" || entry.EventState == "" {
		return ""
	}
	for _, row := range rules.Transitions() {
		if row.Name == name {
			return "poll: " + row.Poll + "; calendar: " + row.Calendar + "; so: " + row.Does
		}
	}
	return ""
}

// channelsOf are the channels whose last news was a transition, by name.
func channelsOf(a poll.Announcement, ref string) []Channel {
	var channels []Channel
	for _, name := range slices.Sorted(maps.Keys(a.Channels)) {
		if d := a.Channels[name]; d.Ref == ref {
			channels = append(channels, Channel{Name: name, At: d.At, MessageID: d.MessageID, Error: d.Error})
		}
	}
	return channels
}
