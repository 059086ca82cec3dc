package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"questscheduler/api"
	"questscheduler/internal/test/promises"
)

// described is the document that the program describes its answers by.
var described = sync.OnceValues(func() (promises.Document, error) {
	e := api.New(api.Options{
		Now: time.Now, NewID: func(prefix string) string { return prefix }, Log: slog.New(slog.DiscardHandler), Version: "test",
	})
	document := httptest.NewRecorder()
	e.ServeHTTP(document, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	return promises.Read(document.Body.Bytes())
})

// holdToDocument demands of an answer of ours what the document says of it.
func (o *outside) holdToDocument(request *http.Request, status int, body []byte) {
	o.t.Helper()
	document, err := described()
	if err != nil {
		o.t.Error(err)
		return
	}
	if !strings.HasPrefix(request.URL.String(), o.ready.API+"/v1/") {
		return
	}
	if broken := document.Broken(request, status, body); broken != "" {
		o.t.Error(broken)
	}
}
