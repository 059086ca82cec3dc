package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

// unflushedDir is where the process that is watched keeps its files.
const unflushedDir = "QUESTSCHEDULER_TEST_UNFLUSHED"

// The load of that process: writers at the same time, each of which writes two documents in each
// of its transactions. Its log is several times what SQLite lets it grow to before it moves it
// into the data file.
const (
	unflushedWriters = 3
	unflushedWrites  = 60
	unflushedText    = 20_000
	cuts             = 60 // of the power
)

func unflushedPath(writer int, name string) store.Path { return store.Doc(name, fmt.Sprint(writer)) }

// TestUnflushed_Process is what is watched; by itself it is skipped.
func TestUnflushed_Process(t *testing.T) {
	dir := os.Getenv(unflushedDir)
	if dir == "" {
		t.Skip("it is for TestUnflushed_LostWithThePower_LosesNothingAcknowledged")
	}
	s := openFile(t, filepath.Join(dir, "data.db"), nil)
	acknowledged, err := os.Create(filepath.Join(dir, "acknowledged"))
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for writer := range unflushedWriters {
		writers.Go(func() {
			for n := 1; n <= unflushedWrites; n++ {
				data := map[string]any{"n": n, "text": noise(n, unflushedText)}
				err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
					if err := tx.Set(unflushedPath(writer, "left"), data); err != nil {
						return err
					}
					return tx.Set(unflushedPath(writer, "right"), data)
				})
				if err == nil {
					_, err = fmt.Fprintf(acknowledged, "%d %d\n", writer, n)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
}

// The power fails at random moments of a load. Of what was not flushed, each write reached the
// disk or not, as a random number says. What had been acknowledged by then is there, and each
// transaction whole.
func TestUnflushed_LostWithThePower_LosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	large(t)
	calls := watched(t)
	if len(calls) < unflushedWriters*unflushedWrites {
		t.Fatalf("only %d calls were seen", len(calls))
	}
	random := rand.New(rand.NewPCG(1, 2))
	at := map[int]bool{}
	for range cuts {
		at[random.IntN(len(calls))] = true
	}
	on, acknowledged, flushes, dropped := disk{}, map[int]int{}, 0, 0
	for i, call := range calls {
		if at[i] {
			files, lost := on.afterPowerCut(random)
			dropped += lost
			t.Run(fmt.Sprintf("at call %d", i), func(t *testing.T) { whole(t, files, acknowledged) })
		}
		if filepath.Base(call.file) == "acknowledged" {
			var writer, n int
			if _, err := fmt.Sscan(string(call.data), &writer, &n); err != nil {
				t.Fatal(err)
			}
			acknowledged[writer] = n
			continue
		}
		if call.name == "fsync" || call.name == "fdatasync" {
			flushes++
		}
		on.take(call)
	}
	t.Logf("%d calls, %d of them flushes; %d did not reach the disk in %d power cuts", len(calls), flushes, dropped, cuts)
	if dropped == 0 {
		t.Error("every write reached the disk in every power cut, so nothing was tried")
	}
	for writer := range unflushedWriters {
		if acknowledged[writer] != unflushedWrites {
			t.Fatalf("writer %d was acknowledged %d writes", writer, acknowledged[writer])
		}
	}
}

// watched runs the process under strace and gives the calls by which it changed files.
func watched(t *testing.T) []call {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("skipped: strace is not installed")
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "calls")
	command := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-y", "-xx", "-s", "10000000", "-o", log,
		"-e", "trace=pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat", os.Args[0], "-test.run=^TestUnflushed_Process$")
	command.Env = append(os.Environ(), unflushedDir+"="+dir)
	if said, err := command.CombinedOutput(); err != nil {
		if bytes.Contains(said, []byte("PTRACE")) || bytes.Contains(said, []byte("ptrace")) {
			t.Skipf("skipped: strace may watch nothing here: %s", said)
		}
		t.Fatalf("%v: %s", err, said)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return parseCalls(t, dir, string(text))
}

// whole opens what the disk holds and compares it with what was acknowledged.
func whole(t *testing.T, files map[string][]byte, acknowledged map[int]int) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "data.db")
	if len(files["data.db"]) == 0 && len(acknowledged) == 0 {
		return // nothing was begun
	}
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for writer := range unflushedWriters {
		both, err := s.GetAll(t.Context(), []store.Path{unflushedPath(writer, "left"), unflushedPath(writer, "right")})
		if err != nil {
			t.Fatal(err)
		}
		left, right := store.Fields(both[0].Data).Int("n"), store.Fields(both[1].Data).Int("n")
		if left != right || int(left) < acknowledged[writer] {
			t.Errorf("writer %d was acknowledged %d, and has %d and %d", writer, acknowledged[writer], left, right)
		}
	}
}
