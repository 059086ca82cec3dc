package control

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// Transport serves requests by calling handler in the caller's own goroutine:
// no socket, no further goroutine, so that a deterministic simulation can use
// the real clients. A handler that panics with http.ErrAbortHandler gives
// io.ErrUnexpectedEOF, as a connection that closed before the answer does; a
// request whose context has ended gives the context's error, whatever the
// handler did. Any other panic goes on to the caller.
func Transport(handler http.Handler) http.RoundTripper { return inProcess{handler} }

type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close() //nolint:errcheck // it was only read
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.WithContext(req.Context()) // a copy; what it refers to is only read
	in.RequestURI = in.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:0"
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := &recorder{header: http.Header{}}
	aborted := serve(t.handler, rec, in)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if aborted {
		return nil, io.ErrUnexpectedEOF
	}
	return rec.response(req), nil
}

// serve runs the handler and says whether it gave up the connection.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) (aborted bool) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			aborted = true
		default:
			panic(p)
		}
	}()
	h.ServeHTTP(w, r)
	return false
}

// recorder keeps an answer in memory. net/http/httptest has one too, but it
// adds a flag to every program that imports it.
type recorder struct {
	header http.Header
	sent   http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter: the first call counts.
func (w *recorder) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	w.sent = w.header.Clone()
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush implements http.Flusher; the body is whole only when the handler ends.
func (w *recorder) Flush() { w.WriteHeader(http.StatusOK) }

func (w *recorder) response(req *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	body := io.NopCloser(bytes.NewReader(w.body.Bytes()))
	size := int64(w.body.Len())
	if req.Method == http.MethodHead || w.body.Len() == 0 {
		body = http.NoBody
	}
	return &http.Response{
		Status:     strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        w.sent,
		Body:          body,
		ContentLength: size,
		Request:       req,
	}
}
