package main

import (
	"errors"
	"io"
	"testing"
)

func TestFirstLine_OfACommand_IsAwaited(t *testing.T) {
	t.Parallel()
	if taken, err := firstLine(t.Context(), "go", "version"); err != nil || taken <= 0 {
		t.Errorf("%s, %v", taken, err)
	}
	if _, err := firstLine(t.Context(), "go", "vet", "-V=short", "."); err == nil {
		t.Error("a command that fails has a figure")
	}
	if _, err := firstLine(t.Context(), "go", "fmt", "-n", "no/such/package"); !errors.Is(err, io.EOF) {
		t.Errorf("a command without a line: %v", err)
	}
}
