package layout_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	mostColumns = 140
	// mostBesideText is how much of a longer line may be something other than text: a struct's tag, a
	// sentence or a document cannot be broken everywhere.
	mostBesideText = 100
)

// longLines are the lines that are too long, and not for their text.
func longLines(text []byte) (lines []int) {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var scan scanner.Scanner
	scan.Init(file, text, nil, scanner.ScanComments)
	inText := map[int]int{}
	for {
		at, what, literal := scan.Scan()
		if what == token.EOF {
			break
		}
		if what != token.STRING {
			continue
		}
		for i, part := range strings.Split(literal, "\n") {
			inText[file.Line(at)+i] += utf8.RuneCountInString(part)
		}
	}
	for i, line := range strings.Split(string(text), "\n") {
		if columns := utf8.RuneCountInString(line); columns > mostColumns && columns-inText[i+1] > mostBesideText {
			lines = append(lines, i+1)
		}
	}
	return lines
}

func TestLines_FitAWindow(t *testing.T) {
	t.Parallel()
	for _, source := range sources(t) {
		text, err := fs.ReadFile(module, source.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range longLines(text) {
			t.Errorf("%s:%d has more than %d columns; break it where its parts end", source.path, line, mostColumns)
		}
	}
}

func TestLongLines_AreFound(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word + ", 30)
	text := "package p\n\nvar a = `" + words + "\n" + words + "`\nvar b = " + words + "1\n// " + words + "\nvar c = \"" + words + "\"\n"
	if found := longLines([]byte(text)); len(found) != 2 || found[0] != 5 || found[1] != 6 {
		t.Errorf("long are the lines %v, want 5 and 6", found)
	}
}
