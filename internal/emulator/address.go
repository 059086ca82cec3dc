package emulator

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
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
func FreeAddress() (string, error) {
	var failures []error
	for range 100 {
		port := firstPort + drawn.Add(1)%ports
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
		if err != nil {
			failures = append(failures, err)
			continue
		}
		return listener.Addr().String(), listener.Close()
	}
	return "", errors.Join(failures...)
}
