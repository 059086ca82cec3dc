package emulator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// Ports outside the ephemeral range of every system: a free one stays free until
// it is used, since no connection and no listener on port 0 of another test takes it.
const (
	firstPort = 12_000
	ports     = 20_000
)

// drawn counts the ports that were tried. Each process starts at a random number,
// since several processes search for ports concurrently.
var drawn atomic.Uint32

func init() { drawn.Store(rand.Uint32N(ports)) } //nolint:gosec,gochecknoinits // nobody gains by knowing it; it has to be drawn once

// FreeAddress is an address on the loopback interface where nobody listens, for
// programs that need to be given an address to listen on. Each call gives another.
//
// It dials the address instead of listening there: a process that is started at
// that moment would inherit the listener and hold the port a little longer.
func FreeAddress() (string, error) {
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(firstPort+drawn.Add(1)%ports)))
		if nobodyListens(address) {
			return address, nil
		}
	}
	return "", fmt.Errorf("somebody listens on each of 100 ports from %d on", firstPort)
}

func nobodyListens(address string) bool {
	connection, err := net.DialTimeout("tcp", address, time.Second) //nolint:noctx // it is over within its second
	if err == nil {
		_ = connection.Close() // it was only asked who is there
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
