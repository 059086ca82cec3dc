package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// forgetful is a proxy that silently drops all traffic of the connections it has
// forgotten.
type forgetful struct {
	net.Listener
	server    string
	forgotten atomic.Int32 // so many of the first
}

func (f *forgetful) serve() {
	for number := int32(1); ; number++ {
		client, err := f.Accept()
		if err != nil {
			return
		}
		server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", f.server)
		if err != nil {
			return
		}
		pass := func(to io.WriteCloser, from io.Reader) {
			defer to.Close() //nolint:errcheck // the other side closed it too
			buffer := make([]byte, 4096)
			for {
				n, err := from.Read(buffer)
				if err != nil {
					return
				}
				if number <= f.forgotten.Load() {
					continue
				}
				if _, err := to.Write(buffer[:n]); err != nil {
					return
				}
			}
		}
		go pass(server, client)
		go pass(client, server)
	}
}

// TestTransport_LeavesAConnectionThatIsDead: calls do not keep using a connection that
// was dropped silently.
func TestTransport_LeavesAConnectionThatIsDead(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	between := &forgetful{Listener: listener, server: server.Listener.Addr().String()}
	t.Cleanup(func() {
		if err := between.Close(); err != nil {
			t.Error(err)
		}
	})
	go between.serve()
	transport := newTransport(500*time.Millisecond, 500*time.Millisecond)
	trusting, ok := server.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatal("the server's client has no transport")
	}
	transport.TLSClientConfig = trusting.TLSClientConfig
	t.Cleanup(transport.CloseIdleConnections)
	call := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+listener.Addr().String(), http.NoBody)
		if err != nil {
			return err
		}
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err != nil {
			return err
		}
		if response.ProtoMajor != 2 {
			t.Errorf("it speaks %s", response.Proto)
		}
		return response.Body.Close()
	}
	eventually(t, "a call", call)
	between.forgotten.Store(1)
	eventually(t, "a call by another connection", call)
}
