package main

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestDemoPage_InABrowser is what a stranger does at /demo: one story, in order.
func TestDemoPage_InABrowser(t *testing.T) {
	t.Parallel()
	o := operate(t, "QS_SYNC_MIN_GAP=20ms")
	o.Size(1440, 1000, false)
	o.opensTheDemo()
	o.showsThePathInMilliseconds()
	o.losesAPushAndChecks()
	o.revokesAndLinksAgain()
	o.isAnaByKeyboard()
	o.fitsEveryScreen()

	for _, said := range o.Problems() {
		t.Errorf("the console complains: %q", said)
	}
	hosts := o.Hosts()
	slices.Sort(hosts)
	var own []string
	for _, address := range []string{o.ready.API, o.ready.Google, o.ready.Discord} {
		parsed, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, parsed.Host)
	}
	slices.Sort(own)
	if !slices.Equal(hosts, own) {
		t.Errorf("the page asked %v, want %v", hosts, own)
	}
}

func (o *operated) opensTheDemo() {
	o.t.Helper()
	o.Go(o.ready.Page)
	o.Await(`document.documentElement.dataset.ready === "yes"`)
	o.Want(`!document.body.textContent.includes("did not start")`)
}

// press clicks the button of an id.
func (o *operated) press(id string) {
	o.t.Helper()
	o.Click(`document.getElementById("` + id + `")`)
}

// phase waits until a fault is armed, broken or recovered.
func (o *operated) phase(fault, phase string) {
	o.t.Helper()
	o.Await(`document.getElementById("state-` + fault + `").dataset.phase === "` + phase + `"`)
}

// showsThePathInMilliseconds: the move of the event leads, step by step, to the app, to
// Discord and to this page.
func (o *operated) showsThePathInMilliseconds() {
	o.t.Helper()
	o.press("move-hour")
	o.Await(`document.querySelector("#journal .path").textContent.includes("Rescheduled")`)
	o.Await(`document.querySelectorAll("#journal .steps li").length === 6 && !document.querySelector("#journal .steps .missing")`)
	o.Want(`[...document.querySelectorAll("#journal .when")].slice(1).every((node) => /^(start|\+[\d.]+ (ms|s))$/.test(node.textContent))`)
	o.Want(`document.querySelector("#journal tbody code").textContent.startsWith("req_")`)
}

// losesAPushAndChecks: without the push the poll stays behind, until somebody checks.
func (o *operated) losesAPushAndChecks() {
	o.t.Helper()
	o.press("break-drop")
	o.phase("drop", "armed")
	o.press("move-hour")
	o.phase("drop", "broken")
	o.press("check-now")
	o.phase("drop", "recovered")
	o.Want(`/Recovered after [\d.]+ (ms|s)/.test(document.getElementById("state-drop").textContent)`)
	o.Await(`document.querySelector("#journal .path").textContent.includes("A person asked for a check")`)
}

// revokesAndLinksAgain: the poll is paused until its creator has consented again, and
// then shows what happened meanwhile.
func (o *operated) revokesAndLinksAgain() {
	o.t.Helper()
	o.press("break-revoke")
	o.phase("revoke", "broken")
	o.Await(`document.querySelector("#faults .health.error")`)
	o.press("move-hour")
	o.press("link-revoke")
	o.Await(`document.querySelector("button[value=allow]")`)
	o.Click(`document.querySelector("button[value=allow]")`)
	o.Await(`location.pathname === "/demo" && document.documentElement.dataset.ready === "yes"`)
	o.phase("revoke", "recovered")
	o.Await(`document.querySelector("#faults .health.healthy")`)
}

// isAnaByKeyboard: the other people are reached by Tab and arrows.
func (o *operated) isAnaByKeyboard() {
	o.t.Helper()
	o.TabTo("person-gm")
	o.Type(kb.ArrowRight)
	o.Await(`document.getElementById("person-ana").checked`)
	o.TabTo("heal")
	o.Want(`getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	o.Type(kb.Enter)
	o.Await(`document.getElementById("status").textContent.includes("Nothing is broken")`)
}

// fitsEveryScreen: a phone scrolls down alone and its buttons are large enough for a
// finger; the dark is dark.
func (o *operated) fitsEveryScreen() {
	o.t.Helper()
	o.Size(390, 844, true)
	o.opensTheDemo()
	o.Want(`document.documentElement.scrollWidth <= 390`)
	o.Want(`[...document.querySelectorAll("main button, main .button")].filter((b) => b.offsetParent).every((b) => b.getBoundingClientRect().height >= 44)`)
	o.Shoot("demo-phone")
	o.Size(1440, 1000, false)
	o.Dark(true)
	o.Want(lightness + `("backgroundColor") < 60 && ` + lightness + `("color") > 180`)
	o.Shoot("demo-dark")
	o.Dark(false)
}

// unexpected are complaints of the console other than failed requests that the story
// provokes.
func unexpected(problems []string, provoked ...string) []string {
	return slices.DeleteFunc(problems, func(problem string) bool {
		return slices.ContainsFunc(provoked, func(words string) bool { return strings.Contains(problem, words) })
	})
}
