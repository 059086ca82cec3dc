package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestProgress_WithoutATerminal_IsALineAMinute(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	line, now := newProgress(&out, "cleanup"), time.Now()
	line.last, line.now = now, func() time.Time { return now }
	for i := range 130 {
		line.show(fmt.Sprintf("%d removed", i))
		now = now.Add(time.Second)
	}
	line.end()
	if want := "cleanup: 60 removed\ncleanup: 120 removed\n"; out.String() != want {
		t.Errorf("it shows %q, want %q", &out, want)
	}
}

func TestProgress_OnATerminal_IsOneLineThatGoes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	line := newProgress(&out, "cleanup")
	line.terminal = true
	line.end() // nothing was shown
	line.show("1 removed")
	line.show(strings.Repeat("many ", 40))
	line.end()
	lines := strings.Split(out.String(), "\r")
	if strings.Contains(out.String(), "\n") || len(lines) != 5 || !strings.HasPrefix(lines[1], "[=   ] cleanup: 1 removed ") ||
		!strings.HasPrefix(lines[2], "[ =  ] cleanup: many") || strings.TrimSpace(lines[3]) != "" || lines[4] != "" {
		t.Errorf("it shows %q", lines)
	}
	for _, line := range lines[1:4] {
		if len(line) != 78 {
			t.Errorf("%q is %d wide", line, len(line))
		}
	}
}
