package main

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestDemoPage_InABrowser does what a stranger does at /demo, one step after the other.
func TestDemoPage_InABrowser(t *testing.T) {
	t.Parallel()
	o := operate(t, "QS_SYNC_MIN_GAP=20ms")
	o.Size(1440, 900, false)
	o.opensTheDemo()
	o.dragsTheSession()
	o.restoresTheTime()
	o.changesTheWeek()
	o.showsBusyCopies()
	o.deletesAndUndoes()
	o.movesAndDeletesByKeyboard()
	o.losesAPushAndChecks()
	o.restartsTheWorker()
	o.revokesAndLinksAgain()
	o.losesAPushAndLetsHoursPass()
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
	o.Await(`document.getElementById("bell-ana")`)
	o.Want(`!document.body.textContent.includes("did not start")`)
}

// press activates the button or link of an id, wherever it is on the page.
func (o *operated) press(id string) {
	o.t.Helper()
	o.Await(`(document.getElementById("` + id + `").click(), true)`)
}

// phase waits until a fault is armed, broken or recovered.
func (o *operated) phase(fault, phase string) {
	o.t.Helper()
	o.Await(`document.getElementById("state-` + fault + `").dataset.phase === "` + phase + `"`)
}

// Expressions: the session's event in the week, and texts of the parts.
const (
	sessionEvent = `document.querySelector('#week [data-event^="questsch"]')`
	badge        = `document.querySelector("#poll .badge:last-child").textContent`
	lastMessage  = `[...document.querySelectorAll("#discord .message")].at(-1).textContent`
)

// dragsTheSession: a drag to the day before reaches the poll, the channel, and step by
// step the journal.
func (o *operated) dragsTheSession() {
	o.t.Helper()
	o.drags(-1)
	o.Await(badge + ` === "Rescheduled"`)
	if moved, err := o.poll(o.ready.Polls["linked"]); err != nil || !dayBefore(moved) {
		o.t.Errorf("the poll is at %v, was at %v (%v)", moved["winning_slot"], moved["original_slot"], err)
	}
	o.Await(lastMessage + `.includes("rescheduled")`)
	o.Await(`/[1-9]/.test(document.getElementById("bell-ana").textContent)`)
	o.Await(`document.querySelector("#path").textContent.includes("Rescheduled")`)
	o.Await(`document.querySelectorAll("#path li").length === 6 && !document.querySelector("#path .missing")`)
	o.Want(`[...document.querySelectorAll("#path .when")].slice(1).every((node) => /^(start|\+[\d.]+ (ms|s))$/.test(node.textContent))`)
	o.Want(`document.querySelector("#journal tbody code").textContent.startsWith("req_")`)
	o.shootTop("demo")
}

// dayBefore says whether a poll's session was moved to the day before, at the same time.
func dayBefore(poll map[string]any) bool {
	start := func(name string) time.Time {
		slot, _ := poll[name].(map[string]any)
		at, _ := time.Parse(time.RFC3339, fmt.Sprint(slot["start"]))
		return at
	}
	return start("winning_slot").Add(24 * time.Hour).Equal(start("original_slot"))
}

// restoresTheTime: the creator's button moves the event back, and everybody is notified.
func (o *operated) restoresTheTime() {
	o.t.Helper()
	o.press("restore-original-time")
	o.Await(badge + ` === "Finalised"`)
	o.Await(lastMessage + `.includes("restored")`)
}

// deletesAndUndoes: the deleted event cancels the session, its return takes that back.
func (o *operated) deletesAndUndoes() {
	o.t.Helper()
	o.Click(sessionEvent)
	o.Await(`document.getElementById("event-form").open`)
	o.press("event-delete")
	o.Await(badge + ` === "Cancelled"`)
	o.Await(lastMessage + `.includes("cancelled")`)
	o.Click(`document.querySelector("#week .ec-undo")`)
	o.Await(badge + ` === "Finalised"`)
	o.Await(lastMessage + `.includes("on again")`)
}

// movesAndDeletesByKeyboard does the same without a mouse.
func (o *operated) movesAndDeletesByKeyboard() {
	o.t.Helper()
	o.TabUntil(sessionEvent + ` === document.activeElement`)
	o.Await(`getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	o.Type(kb.ArrowUp)
	o.Type(kb.ArrowUp)
	o.Await(badge + ` === "Rescheduled"`)
	o.Await(sessionEvent + ` === document.activeElement`)
	o.Type(kb.Delete)
	o.Await(badge + ` === "Cancelled"`)
	o.TabUntil(`document.activeElement.matches("#week .ec-undo")`)
	o.Type(kb.Enter)
	o.Await(badge + ` === "Rescheduled"`)
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
	o.Await(`document.querySelector("#path").textContent.includes("A person asked for a check")`)
}

// restartsTheWorker: what happens while the worker is down is done when it is back.
func (o *operated) restartsTheWorker() {
	o.t.Helper()
	o.press("break-worker")
	o.phase("worker", "armed")
	o.press("move-hour")
	o.phase("worker", "broken")
	o.phase("worker", "recovered")
}

// revokesAndLinksAgain: the poll is paused until its creator has consented again, and
// then shows what happened since.
func (o *operated) revokesAndLinksAgain() {
	o.t.Helper()
	o.press("break-revoke")
	o.phase("revoke", "broken")
	o.Await(`document.querySelector("#faults .health.error")`)
	o.press("move-hour")
	o.Await(`document.getElementById("strip").dataset.agree === "no"`)
	o.press("heal")
	o.Await(`document.getElementById("status").textContent.includes("Still broken") && document.getElementById("link-healed")`)
	o.press("link-revoke")
	o.Await(`document.querySelector("button[value=deny]")`)
	o.Click(`document.querySelector("button[value=deny]")`)
	o.Await(`location.pathname === "/demo" && document.getElementById("status").textContent.includes("You cancelled")`)
	o.Await(`document.documentElement.dataset.ready === "yes" && document.getElementById("link-strip")`)
	o.press("break-revoke") // again, since everything was healed
	o.phase("revoke", "broken")
	o.press("link-strip")
	o.Await(`document.querySelector("button[value=allow]")`)
	o.Want(`document.querySelector("input[value=gm]").checked`)
	o.Click(`document.querySelector("button[value=allow]")`)
	o.Await(`location.pathname === "/demo" && document.documentElement.dataset.ready === "yes"`)
	o.phase("revoke", "recovered")
	o.Await(`document.querySelector("#faults .health.healthy")`)
}

// losesAPushAndLetsHoursPass: without anybody's check the server's own finds the change.
func (o *operated) losesAPushAndLetsHoursPass() {
	o.t.Helper()
	o.press("break-drop")
	o.phase("drop", "armed")
	o.press("move-hour")
	o.phase("drop", "broken")
	o.press("six-hours")
	o.phase("drop", "recovered")
	// Beyond midnight, too, the calendar names the times of the poll.
	o.Await(`((clocks) => clocks[0] > clocks.at(-1) && ` + timeOfEvent + `.textContent === clocks[0] + "–" + clocks.at(-1))(` +
		pollTime + `.textContent.match(/\d\d:\d\d/g))`)
}

// isAnaByKeyboard: the other people are reached by Tab and arrows.
func (o *operated) isAnaByKeyboard() {
	o.t.Helper()
	o.TabTo("person-gm")
	o.Type(kb.ArrowRight)
	o.Await(`document.getElementById("person-ana").checked`)
	o.Await(`document.querySelector("#poll .panel") && document.querySelector("#poll").textContent.includes("Only gm can change this poll")`)
	o.Want(`!document.querySelector("#poll .panel button, #poll-sync, #poll-cancel, #poll-reopen")`)
	o.Await(`document.getElementById("faults").open = true`)
	o.TabTo("heal")
	o.Await(`getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	o.Type(kb.Enter)
	o.Await(`document.getElementById("status").textContent.includes("Nothing is broken")`)
}

// shootTop takes a picture of the first screen of the page.
func (o *operated) shootTop(name string) {
	o.t.Helper()
	o.Await(`(scrollTo(0, 0), scrollY === 0)`)
	o.Await(`document.getAnimations().length === 0`)
	o.Await(`((list) => (list.scrollTo(0, list.scrollHeight), list.scrollTop + list.clientHeight >= list.scrollHeight - 2))(document.querySelector("#discord .messages"))`)
	o.ShootScreen(name)
}

// fitsEveryScreen: a phone scrolls down alone and its buttons are large enough for a
// finger; the dark is dark.
func (o *operated) fitsEveryScreen() {
	o.t.Helper()
	o.Size(390, 844, true)
	o.opensTheDemo()
	o.Want(`document.documentElement.scrollWidth <= 390`)
	const small = `[...document.querySelectorAll("main button, main .button, main select")].filter((b) => b.offsetParent && b.getBoundingClientRect().height < 44).map((b) => b.textContent || b.className)`
	if names := o.Text(small); names != "" {
		o.t.Errorf("these are too small for a finger: %s", names)
	}
	o.shootTop("demo-phone")
	o.Size(1440, 900, false)
	o.Dark(true)
	o.Want(lightness + `("backgroundColor") < 60 && ` + lightness + `("color") > 180`)
	o.Want(`getComputedStyle(document.querySelector("#week .ec-col-head:last-child")).backgroundColor.match(/\d+/g).slice(0, 3).every((part) => part < 80)`)
	o.shootTop("demo-dark")
	o.Dark(false)
}
