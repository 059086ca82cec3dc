package river_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"questscheduler/internal/queue"
	"questscheduler/internal/queue/river"
)

// childFile names, in the environment, the file that a child process of the
// crash test works on.
const childFile = "QUEUE_RIVER_TEST_CHILD_FILE"

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		if err := crashChild(file); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// crashChild runs a queue until it is killed: it tells on its output each task
// that is acknowledged and each that runs. Tasks of the kind "hang" never end, the
// others are done at once.
func crashChild(file string) error {
	ctx := context.Background()
	db, err := openDatabase(file)
	if err != nil {
		return err
	}
	q, err := river.New(ctx, river.Options{DB: db, Kinds: crashKinds})
	if err != nil {
		return err
	}
	hang := func(_ context.Context, delivery queue.Delivery) queue.Verdict {
		fmt.Println("running", delivery.Name)
		select {}
	}
	work := func(_ context.Context, delivery queue.Delivery) queue.Verdict {
		fmt.Println("running", delivery.Name)
		return queue.Verdict{Outcome: queue.Done}
	}
	err = q.Start(ctx, queue.Config{Handlers: map[string]queue.Handler{"hang": hang, "work": work}})
	if err != nil {
		return err
	}
	tasks := []queue.Task{
		{Kind: "hang", Name: "hung"},
		{Kind: "work", Name: "soon", NotBefore: time.Now().Add(time.Second)},
		{Kind: "work", Name: "scheduled", NotBefore: time.Now().Add(5500 * time.Millisecond)},
	}
	for i := 0; ; i++ {
		if i >= len(tasks) {
			tasks = append(tasks, queue.Task{Kind: "work", Name: fmt.Sprint("work", i), NotBefore: time.Now().Add(time.Second)})
		}
		if _, err := q.Enqueue(ctx, tasks[i]); err != nil {
			return err
		}
		fmt.Println("acknowledged", tasks[i].Name)
	}
}

var crashKinds = []string{"hang", "work"}

// River alone would take the rescue's 90 s or the dead leader's term; patience is below
// both.
const patience = time.Minute

func TestKill_AcknowledgedTasksRun_RunningOnesRunAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data.sqlite")
	acknowledged, done := killedChild(t, file)
	t.Logf("%d tasks were acknowledged before the kill, of which %d were done by then", len(acknowledged), len(done))

	restarted := time.Now()
	q := open(t, file, crashKinds)
	ran := make(chan queue.Delivery, len(acknowledged)+1)
	handler := func(_ context.Context, delivery queue.Delivery) queue.Verdict {
		ran <- delivery
		return queue.Verdict{Outcome: queue.Done}
	}
	start(t, q, map[string]queue.Handler{"hang": handler, "work": handler})
	missing := map[string]bool{}
	for _, name := range acknowledged {
		if !done[name] { // what was done may come again, if that was not kept yet
			missing[name] = true
		}
	}
	deadline := time.After(patience)
	for len(missing) > 0 {
		select {
		case delivery := <-ran:
			if delivery.Name == "hung" {
				t.Logf("what ran at the kill runs again %v after the restart", time.Since(restarted))
				if delivery.Attempt != 2 {
					t.Errorf("the task that ran came as attempt %d, want 2", delivery.Attempt)
				}
			}
			delete(missing, delivery.Name)
		case <-deadline:
			t.Fatalf("acknowledged and not run: %v", missing)
		}
	}
}

// killedChild runs a child process on the file, kills it while one task runs
// and others are being handed over, and returns which it acknowledged, and which of
// these it has done: on a slow machine the first are due before the last are handed
// over.
func killedChild(t *testing.T, file string) (acknowledged []string, done map[string]bool) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childFile+"="+file)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	hung, killed, lines := false, false, bufio.NewScanner(output)
	done = map[string]bool{}
	for lines.Scan() {
		what, name, _ := strings.Cut(lines.Text(), " ")
		switch what {
		case "running":
			hung = hung || name == "hung"
			done[name] = name != "hung"
		case "acknowledged":
			acknowledged = append(acknowledged, name)
		default:
			t.Errorf("the child says %q", lines.Text())
		}
		if hung && len(acknowledged) >= 50 && !killed {
			killed = true
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := command.Wait(); err == nil || !killed {
		t.Fatalf("the child ended before it was killed: %v; a task ran: %v; acknowledged: %d", err, hung, len(acknowledged))
	}
	return acknowledged, done
}

func TestZones_TheMachinesZoneChangesNoWait(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Asia/Tokyo", "America/Los_Angeles"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			const waits = "(no_earlier|later_runs|retry_runs|dead_letter_until|depths)"
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			command := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestConformance$/"+waits, "-test.v")
			command.Env = append(os.Environ(), "TZ="+zone)
			output, err := command.CombinedOutput()
			if err != nil {
				t.Errorf("the suite fails in this zone: %v\n%s", err, output)
			}
			if ran := strings.Count(string(output), "    --- PASS"); ran != 5 {
				t.Errorf("%d tests of the suite ran, want 5\n%s", ran, output)
			}
		})
	}
}
