package emulator

import (
	"net"
	"testing"
)

func TestFreeAddress_GivesEachToOne(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for range 50 {
		address, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		if met[address] {
			t.Errorf("%s is given twice", address)
		}
		met[address] = true
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatalf("nobody can listen there: %v", err)
		}
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}
}
