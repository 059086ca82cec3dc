package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// asHost requests an address with the Host header of a browser.
func asHost(t *testing.T, address, host string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(read) + response.Header.Get("Location")
}

// A browser keeps cookies only for the host of its request, and Google redirects to the
// printed address.
func TestDemo_PageUnderAnotherLocalName_LeadsToThePrinted(t *testing.T) {
	t.Parallel()
	ready := startDemo(t, t.TempDir())
	printed := strings.TrimPrefix(ready.API, "http://")
	_, port, _ := strings.Cut(printed, ":")
	for _, path := range []string{"/demo", "/demo/link?user=gm"} {
		for _, host := range []string{"localhost:" + port, "localhost", "[::1]:" + port} {
			if status, text := asHost(t, ready.API+path, host); status != http.StatusFound ||
				!strings.HasSuffix(text, ready.API+path) || strings.Contains(text, "ticket=") {
				t.Errorf("%s as %s is answered %d: %.300s", path, host, status, text)
			}
		}
		if _, text := asHost(t, ready.API+path, printed); strings.HasSuffix(text, ready.API+path) {
			t.Errorf("%s leads to itself", path)
		}
	}
}

// A page on the internet can make its own name resolve to this machine (DNS rebinding)
// and read the answers.
func TestDemo_ForeignHost_IsRefused(t *testing.T) {
	t.Parallel()
	ready := startDemo(t, t.TempDir())
	_, port, _ := strings.Cut(strings.TrimPrefix(ready.API, "http://"), ":")
	for address, open := range map[string]int{
		ready.Page:                             http.StatusOK,
		ready.API + "/demo/link?user=gm":       http.StatusFound,
		ready.Google + "/_sim/calls":           http.StatusOK,
		ready.Google + "/_sim/clock":           http.StatusOK,
		ready.Discord + "/_sim/faults":         http.StatusOK,
		ready.Google + "/o/oauth2/v2/auth?x=y": http.StatusUnauthorized,
	} {
		for _, host := range []string{"127.0.0.1:" + port, "localhost:" + port, "localhost", "[::1]:" + port} {
			status, text := asHost(t, address, host)
			toPrinted := status == http.StatusFound && strings.HasSuffix(text, address)
			if status != open && !toPrinted {
				t.Errorf("%s as %s is answered %d: %s", address, host, status, text)
			}
		}
		for _, host := range []string{"evil.example", "evil.example:" + port, "127.0.0.1.evil.example:" + port, "localhost.evil.example"} {
			status, text := asHost(t, address, host)
			if status != http.StatusForbidden || strings.Contains(text, "ticket=") || strings.Contains(text, ready.AdminToken) {
				t.Errorf("%s as %s is answered %d: %.300s", address, host, status, text)
			}
		}
	}
}
