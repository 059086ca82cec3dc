package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// Such a statement takes four times as long, since SQLite prepares it anew at each use.
func TestStatements_NoneIsLimitedByAParameterAlone(t *testing.T) {
	t.Parallel()
	for _, text := range statementTexts {
		if strings.HasSuffix(text, "LIMIT ?") {
			t.Errorf("limited by a parameter alone: %s", text)
		}
	}
}

// The earlier states of the pages of a group's transactions are in a file otherwise.
func TestOpen_KeepsWhatIsTemporaryInMemory(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "data.db")})
	if err != nil {
		t.Fatal(err)
	}
	for name, pool := range map[string]*sql.DB{"writer": s.writer, "readers": s.readers} {
		var where int
		if err := pool.QueryRowContext(t.Context(), "PRAGMA temp_store").Scan(&where); err != nil || where != 2 {
			t.Errorf("%s: temp_store is %d, %v, want 2 (memory)", name, where, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
