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

// described is the program's OpenAPI document.
var described = sync.OnceValues(func() (promises.Document, error) {
	e := api.New(api.Options{
		Now: time.Now, NewID: func(prefix string) string { return prefix }, Log: slog.New(slog.DiscardHandler), Version: "test",
	})
	document := httptest.NewRecorder()
	e.ServeHTTP(document, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	return promises.Read(document.Body.Bytes())
})

// holdToDocument checks an answer of our API against the OpenAPI document.
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
