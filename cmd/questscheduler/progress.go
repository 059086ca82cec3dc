package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
)

// progress is a line on a terminal that says how far something is. Elsewhere it
// shows nothing.
type progress struct {
	out  io.Writer // nil: not a terminal
	name string
	// turns make the line move where the counts do not.
	turns int
}

// bar is what moves: how much there is to do is not known beforehand.
var bar = []string{"[=   ]", "[ =  ]", "[  = ]", "[   =]", "[  = ]", "[ =  ]"}

// lineWidth is what is shown of a line, so that it never wraps.
const lineWidth = 78

func newProgress(out io.Writer, name string) *progress {
	file, isFile := out.(*os.File)
	if !isFile || !isatty.IsTerminal(file.Fd()) {
		return &progress{}
	}
	return &progress{out: file, name: name}
}

// show draws the line anew.
func (p *progress) show(text string) {
	if p.out == nil {
		return
	}
	line := fmt.Sprintf("%s %s: %s", bar[p.turns%len(bar)], p.name, text)
	p.turns++
	fmt.Fprintf(p.out, "\r%-*s", lineWidth, line[:min(len(line), lineWidth)])
}

// end takes the line away.
func (p *progress) end() {
	if p.out != nil && p.turns > 0 {
		fmt.Fprint(p.out, "\r"+strings.Repeat(" ", lineWidth)+"\r")
	}
}
