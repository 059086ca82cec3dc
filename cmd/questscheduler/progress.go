package main

import (
	"fmt"
	"io"
	"os"
)

// progress is a line on a terminal; elsewhere it shows nothing.
type progress struct {
	out   io.Writer // nil: not a terminal
	name  string
	turns int
}

// bar moves while the counts do not; the total is not known.
var bar = []string{"[=   ]", "[ =  ]", "[  = ]", "[   =]", "[  = ]", "[ =  ]"}

func newProgress(out io.Writer, name string) *progress {
	if file, ok := out.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &progress{out: out, name: name}
		}
	}
	return &progress{}
}

// show redraws the line, cut so that it does not wrap.
func (p *progress) show(text string) {
	if p.out == nil {
		return
	}
	fmt.Fprintf(p.out, "\r%-78.78s", bar[p.turns%len(bar)]+" "+p.name+": "+text)
	p.turns++
}

// end clears the line.
func (p *progress) end() {
	if p.out != nil && p.turns > 0 {
		fmt.Fprintf(p.out, "\r%78s\r", "")
	}
}
