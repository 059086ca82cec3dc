package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progressEvery is the time between two lines of progress where there is no terminal.
const progressEvery = time.Minute

// progress is one line that is rewritten on a terminal; elsewhere it is a line a minute.
type progress struct {
	out      io.Writer
	name     string
	terminal bool
	now      func() time.Time
	last     time.Time // of the last line where there is no terminal, or the beginning
	turns    int
}

// bar moves while the counts do not; the total is not known.
var bar = []string{"[=   ]", "[ =  ]", "[  = ]", "[   =]", "[  = ]", "[ =  ]"}

func newProgress(out io.Writer, name string) *progress {
	p := &progress{out: out, name: name, now: time.Now, last: time.Now()}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// show redraws the line, cut so that it does not wrap.
func (p *progress) show(text string) {
	switch now := p.now(); {
	case p.terminal:
		fmt.Fprintf(p.out, "\r%-78.78s", bar[p.turns%len(bar)]+" "+p.name+": "+text)
		p.turns++
	case now.Sub(p.last) >= progressEvery:
		fmt.Fprintf(p.out, "%s: %s\n", p.name, text)
		p.last = now
	}
}

// end clears the line.
func (p *progress) end() {
	if p.turns > 0 {
		fmt.Fprintf(p.out, "\r%78s\r", "")
		p.turns = 0
	}
}
