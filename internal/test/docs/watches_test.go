package docs_test

import (
	"fmt"
	"strings"

	"questscheduler/calendarsync"
)

// watchPicture draws what becomes of a watch channel, and its table.
func watchPicture() string {
	name := func(status calendarsync.Status) string {
		if status == "" || status == calendarsync.Stopped {
			return "[*]"
		}
		return string(status)
	}
	var picture, table strings.Builder
	for i, row := range calendarsync.Transitions() {
		fmt.Fprintf(&picture, "    %s --> %s: %s\n", name(row.From), name(row.To), row.Event)
		from := "`" + string(row.From) + "`"
		if row.From == "" {
			from = "not written yet"
		}
		fmt.Fprintf(&table, "| %d | %s | %s | `%s` | %s |\n", i+1, from, row.Event, row.To, row.Why)
	}
	return "\n## What becomes of a watch channel\n\nThe table is `calendarsync/channelstates.go`. What has no row changes " +
		"nothing; `stopped` is no document any more.\n\n" +
		"```mermaid\nstateDiagram-v2\n" + picture.String() + "```\n\n| | Status | Happens | Then | |\n|---|---|---|---|---|\n" + table.String()
}
