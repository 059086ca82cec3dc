package emulator

import (
	"net"
	"os/exec"
	"sync"
	"testing"
)

func TestFreeAddress_GivesEachToOne_WhileProgramsStart(t *testing.T) {
	t.Parallel()
	var starting sync.WaitGroup
	for range 4 {
		starting.Go(func() {
			for range 25 {
				_ = exec.Command("true").Run() //nolint:noctx // it ends at once; how does not matter
			}
		})
	}
	met := map[string]bool{}
	for range 200 {
		address, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		if met[address] {
			t.Errorf("%s is given twice", address)
		}
		met[address] = true
		// A listener of this test would itself be held by a program that starts.
		if !nobodyListens(address) {
			t.Errorf("somebody listens at %s", address)
		}
	}
	starting.Wait()
}

func TestFreeAddress_PassesOverWhatIsTaken(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, row := range []struct {
		address string
		free    bool
	}{{listener.Addr().String(), false}, {"127.0.0.1:1", true}} {
		if free := nobodyListens(row.address); free != row.free {
			t.Errorf("%s is free: %v, want %v", row.address, free, row.free)
		}
	}
}
