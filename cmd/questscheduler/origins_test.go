package main

import (
	"slices"
	"testing"
)

// What browsers send is compared as it is.
func TestOrigins_AreAsBrowsersSendThem(t *testing.T) {
	t.Parallel()
	got := origins([]string{
		"https://App.Example.org:443/Polls", "", "http://LOCALHOST:80", "https://[FE80::1]:8443", "*", "https://x.example",
	})
	for _, want := range []string{
		"https://app.example.org", "http://localhost", "https://[fe80::1]:8443", "*", "https://x.example",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	if slices.Contains(got, "") || slices.Contains(got, "://") {
		t.Errorf("an address without a host has one: %q", got)
	}
}
