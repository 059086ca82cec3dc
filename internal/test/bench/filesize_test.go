package main

import (
	"path/filepath"
	"testing"
)

// A world whose store knows the program's queries alone lives a poll's whole flow.
func TestFiles_OfAPollThatLived_AreWeighed(t *testing.T) {
	t.Parallel()
	size, err := fileOf(t.Context(), filepath.Join(t.TempDir(), "lived.db"), 2, live)
	if err != nil || size <= 0 {
		t.Errorf("%g kB, %v", size, err)
	}
}
