package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// asProgram, in the environment of the test binary, makes it the program
// itself, so that tests can run it as a process and kill it.
const asProgram = "QUESTSCHEDULER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	stopPatience = 20 * time.Second
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Main(ctx, Process{Args: os.Args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr})
	stop()
	os.Exit(code)
}
