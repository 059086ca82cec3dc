package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/docs"
)

// TestOperations_AuditOfGroups_FindsChannels runs the statement in docs/operations.md
// that audits groups after an upgrade.
func TestOperations_AuditOfGroups_FindsChannels(t *testing.T) {
	t.Parallel()
	_, after, _ := strings.Cut(docs.Read(t, "docs/operations.md"), "\n## Upgrading\n")
	_, after, _ = strings.Cut(after, "\n   sqlite3 -readonly -header questscheduler.db \"")
	statement, _, found := strings.Cut(after, "\"\n")
	if !found {
		t.Fatal("docs/operations.md has no statement for the audit of groups")
	}
	file := filepath.Join(t.TempDir(), "questscheduler.db")
	documents, err := sqlite.Open(t.Context(), sqlite.Options{Path: file, Queries: queries()})
	if err != nil {
		t.Fatal(err)
	}
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for id, channel := range map[string]string{"with": "22", "without": ""} {
			group := poll.Group{Name: "Party", Discord: poll.GroupDiscord{GuildID: "1", ChannelID: channel, NotifyRoleID: poll.NotifyEveryone}}
			updates := append(poll.GroupUpdates(group), poll.Set("creatorId", "gm"))
			if err := tx.Merge(poll.GroupPath(id), updates...); err != nil {
				return err
			}
		}
		return tx.Create(poll.GroupPath("without-discord"), map[string]any{"name": "Others", "creatorId": "ana"})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := documents.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(t, file, statement), []string{"questingGroups/with gm 1 22 everyone"}; !slices.Equal(got, want) {
		t.Errorf("the statement finds %q, want %q", got, want)
	}
}

// rowsOf returns the rows of a statement, each as its five columns.
func rowsOf(t *testing.T, file, statement string) (rows []string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	found, err := db.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close() //nolint:errcheck // it was only read
	for found.Next() {
		columns := make([]string, 5)
		if err := found.Scan(&columns[0], &columns[1], &columns[2], &columns[3], &columns[4]); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, strings.Join(columns, " "))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}
