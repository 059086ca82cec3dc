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

// Ports that no system gives to whoever asks for any: what is free among them is
// not taken by a connection, or by a listener of another test, before it is used.
const (
	firstPort = 12_000
	ports     = 20_000
)

// drawn counts the ports that were tried, from a number on that each process
// draws, since several look for ports at once.
var drawn atomic.Uint32

func init() { drawn.Store(rand.Uint32N(ports)) } //nolint:gosec,gochecknoinits // nobody gains by knowing it; it has to be drawn once

// FreeAddress is an address on the loopback interface where nobody listens, for
// what has to be told where to listen. Each call gives another.
//
// It asks who answers there. Had it listened itself, a program that is started at
// that moment could hold the port a little longer than this one.
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
