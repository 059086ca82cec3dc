package api_test

import (
	"testing"

	"questscheduler/internal/test/chromium"
)

// TestDocs_InABrowser_FitsAPhoneAndTheDark: the page is read without a mouse, without
// scripts, and in either theme.
func TestDocs_InABrowser_FitsAPhoneAndTheDark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := chromium.Open(t)
	b.Size(390, 844, true)
	b.Go(w.url + "/docs")
	b.Want(`document.documentElement.scrollWidth <= 390`)
	b.Type("\t")
	b.Type("\t")
	b.Want(`getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	b.Shoot("docs-phone")
	b.Dark(true)
	b.Want(`getComputedStyle(document.body).backgroundColor === "rgb(22, 22, 22)"`)
	b.Go(w.url + "/docs#finalize-poll")
	b.Want(`document.querySelector("#finalize-poll pre").textContent.includes("slot_id")`)
	b.Want(`document.querySelector("#list-polls table").textContent.includes("one of creator, participant; participant if left out")`)
	b.Shoot("docs-dark")
	if problems := b.Problems(); len(problems) > 0 {
		t.Errorf("the console complains: %q", problems)
	}
}
