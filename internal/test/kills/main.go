// Command kills kills the real program, as kill -9 does, at random moments of a mixed load
// of all its consumers, and starts it again. The program runs as a process of its own, on
// SQLite; Google, Discord and the people who use it live here and outlive it. Each act of a
// person is remembered as far as it was answered, and in the end everything is compared:
// with what was answered, with the simulators, and with the stored documents.
//
// A seed gives the acts and the moments. How far the program got by then is up to the
// machine, so the same seed need not find the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"questscheduler/internal/test/process"
)

func main() {
	kills := flag.Int("n", 300, "how often the program is killed, at least")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()%1_000_000), "chooses the acts and the moments")
	binary := flag.String("binary", "", "the built program; without it it is built")
	limit := flag.Duration("ready", time.Second, "how long a start may take")
	soaking := flag.Duration("soak", 0, "how long the program is under steady load instead, without kills")
	patience := flag.Duration("patience", 5*time.Minute, "how long everything may take to settle")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, os.Stdout, options{
		kills: *kills, soaking: *soaking, seed: *seed, binary: *binary, ready: *limit, patience: *patience,
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "kills: seed %d: %v\n", *seed, err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

// options say what is run.
type options struct {
	kills   int
	soaking time.Duration // of a load without kills; 0: the program is killed
	seed    uint64
	binary  string // "": it is built
	ready   time.Duration
	// patience is how long everything may take to settle after a kill. An attempt to make the
	// calendar of copies that died keeps others from a second one for two minutes.
	patience time.Duration
}

// run lives through the kills, prints what they came to, and reports whether nothing was wrong.
func run(ctx context.Context, out io.Writer, o options) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "questscheduler-kills-")
	if err != nil {
		return false, err
	}
	defer func() {
		if ok || err != nil && ctx.Err() != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		} else {
			fmt.Fprintf(out, "the data file and the program's output are kept in %s\n", dir)
		}
	}()
	if o.binary == "" {
		o.binary, err = process.Build(ctx, dir)
		if err != nil {
			return false, err
		}
	}
	w, err := newWorld(ctx, dir, o)
	if err != nil {
		return false, err
	}
	defer w.end()
	began := time.Now()
	live := w.live
	if o.soaking > 0 {
		live = w.soak
	}
	if err := live(ctx, out); err != nil {
		return false, fmt.Errorf("%w\nthe program's last lines:\n%s", err, w.server.LastLines())
	}
	w.report(out, time.Since(began))
	return len(w.found) == 0, nil
}
