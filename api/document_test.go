package api_test

import (
	"strings"
	"testing"
)

func TestDocument_IsServedAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(call{method: "GET", path: "/openapi.json"})
	if got.status != 200 || got.header.Get("Content-Type") != "application/openapi+json" {
		t.Errorf("status %d, %v", got.status, got.header)
	}
	document := w.document()
	if !strings.HasPrefix(document.OpenAPI, "3.1") {
		t.Errorf("version %s", document.OpenAPI)
	}
	said := map[string]bool{}
	for _, tag := range document.Tags {
		said[tag.Name] = tag.Description != ""
	}
	named := map[string]bool{}
	document.each(func(method, path string, op operationJSON) {
		if op.OperationID == "" || named[op.OperationID] || len(op.Audience) == 0 {
			t.Errorf("%s %s has no name of its own, or does not say who may call it", method, path)
		}
		named[op.OperationID] = true
		if len(op.Tags) != 1 || !said[op.Tags[0]] {
			t.Errorf(
				"%s %s has the tags %v: name one of the tags in operation.go, or add one there that says what it is about", method,
				path, op.Tags,
			)
		}
	})
}

func TestDocs_NeedNoOutsideAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(call{method: "GET", path: "/docs"})
	if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
		t.Errorf("status %d, %v", got.status, got.header)
	}
	if policy := got.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the page may load: %q", policy)
	}
	for _, outside := range []string{`="http`, "='http", "url(", "src=", "@import", "<script"} {
		if strings.Contains(got.text, outside) {
			t.Errorf("the page holds %s", outside)
		}
	}
	w.document().each(func(_, path string, op operationJSON) {
		if !strings.Contains(got.text, path) || strings.Count(got.text, `<section id="`+op.OperationID+`">`) != 1 ||
			!strings.Contains(got.text, `href="#`+op.OperationID+`"`) {
			t.Errorf("the page does not show %s once, with a link to it", op.OperationID)
		}
	})
}
