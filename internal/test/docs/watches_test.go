package docs_test

import (
	"fmt"
	"strings"

	"questscheduler/calendarsync"
)

// watchPicture draws what becomes of a watch channel.
func watchPicture() string {
	name := func(status calendarsync.Status) string {
		if status == "" || status == calendarsync.Stopped {
			return "[*]"
		}
		return string(status)
	}
	var picture strings.Builder
	for _, row := range calendarsync.Transitions() {
		fmt.Fprintf(&picture, "    %s --> %s: %s\n", name(row.From), name(row.To), row.Event)
	}
	return "\n## What becomes of a watch channel\n\nThe table is `calendarsync/channelstates.go`. What has no arrow changes " +
		"nothing.\n\n```mermaid\nstateDiagram-v2\n" + picture.String() + "```\n"
}
