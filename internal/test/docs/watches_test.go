package docs_test

import (
	"fmt"
	"strings"

	"questscheduler/calendarsync"
)

// watchTable says what becomes of a watch channel.
func watchTable() string {
	var table strings.Builder
	table.WriteString("\n## What becomes of a watch channel\n\nThe table is `calendarsync/channelstates.go`. What has no row changes " +
		"nothing; `stopped` is no document any more.\n\n| Status | Event | Then | |\n|---|---|---|---|\n")
	for _, row := range calendarsync.Transitions() {
		from := "`" + string(row.From) + "`"
		if row.From == "" {
			from = "not written yet"
		}
		fmt.Fprintf(&table, "| %s | %s | `%s` | %s |\n", from, row.Event, row.To, row.Why)
	}
	return table.String()
}
