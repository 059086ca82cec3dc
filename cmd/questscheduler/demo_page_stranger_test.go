package main

import (
	"fmt"
	"strconv"
	"testing"
)

// Expressions: what a stranger is to see without scrolling.
const (
	claim         = `document.querySelector("h1")`
	pollTime      = `document.querySelector("#poll .when")`
	pathSteps     = `document.querySelector("#path .steps")`
	newestMessage = `[...document.querySelectorAll("#discord .message")].at(-1)`
	bellOfAna     = `document.getElementById("bell-ana")`
	zoneName      = `document.getElementById("zone")`
	timeOfEvent   = `document.querySelector("#week .event-session .ec-event-time, #week .event-moved .ec-event-time")`
)

// TestDemoPage_StrangersMinute_IsAboveTheFold walks the page as somebody does who never
// saw it, on each screen: reads the claim, drags the event, sees who is told, and takes
// it back.
func TestDemoPage_StrangersMinute_IsAboveTheFold(t *testing.T) {
	t.Parallel()
	o := operate(t, "QS_SYNC_MIN_GAP=20ms")
	for i, screen := range []struct {
		width, height int64
		phone         bool
	}{{1440, 900, false}, {1280, 720, false}, {390, 844, true}} {
		o.Size(screen.width, screen.height, screen.phone)
		o.opensTheDemo()
		o.seesTheFirstScreen()
		o.Want(fmt.Sprintf(`(document.querySelector("#week .event-hint").offsetParent !== null) === %t`, i == 0))
		o.shootTop(fmt.Sprintf("stranger-%d", screen.width))
		if screen.phone {
			continue // a finger drags after a long press, which Chromium's mouse does not do
		}
		o.watchesMarks()
		o.drags(-1)
		o.Await(badge + ` === "Rescheduled"`)
		o.Await(lastMessage + `.includes("rescheduled")`)
		o.Await(`document.querySelectorAll("#path li").length === 6 && !document.querySelector("#path .missing")`)
		o.Await(`/^\w{3} \d+ \w{3} \d\d:\d\d, session rescheduled$/.test(document.querySelector("#bell-ana .latest").textContent)`)
		o.seesTheFirstScreen()
		o.Want(`document.querySelector("#week .event-hint").offsetParent === null`)
		for _, part := range []string{"week", "poll", "bells", "discord", "path"} {
			o.Await(`marked.has("` + part + `")`)
		}
		o.Click(`document.getElementById("restore-original-time")`)
		o.Await(badge + ` === "Finalised"`)
		o.Await(`document.querySelectorAll("#poll .votes .voter").length === 6`) // the votes are back
	}
	if said := o.Problems(); len(said) > 0 {
		t.Errorf("the console complains: %q", said)
	}
}

// seesTheFirstScreen: the claim, the event, the poll, the path and the newest message are
// in the window, and nothing covers them.
func (o *operated) seesTheFirstScreen() {
	o.t.Helper()
	o.Await(`(scrollTo(0, 0), scrollY === 0)`)
	for _, node := range []string{claim, sessionEvent, pollTime, pathSteps, newestMessage, bellOfAna, zoneName} {
		o.Await(node)
		o.Await(seen(node))
	}
	o.Want(`document.documentElement.scrollWidth <= innerWidth`)
	o.Await(`((node) => node.scrollWidth <= node.clientWidth)(` + timeOfEvent + `)`) // nothing of it is cut off
	o.Want(`!document.querySelector("body > aside details[open]")`)
	// The path is below both, and one screen holds all of it.
	o.Want(`[...document.querySelectorAll("#week, #poll")].every((one) => one.getBoundingClientRect().bottom <= ` +
		pathSteps + `.getBoundingClientRect().top)`)
	o.Want(pathSteps + `.getBoundingClientRect().bottom <= innerHeight`)
}

// seen says that the box of a node is within the window, at least the part of it that its
// own list shows, and that it is on top there.
func seen(node string) string {
	return `((node) => {
		const list = node.closest(".messages, .ec-main, main, body").getBoundingClientRect();
		const box = node.getBoundingClientRect();
		const [top, bottom] = [Math.max(box.top, list.top), Math.min(box.bottom, list.bottom, innerHeight)];
		if (box.left < 0 || box.right > innerWidth || bottom - top < Math.min(box.height, 40)) return false;
		return node.contains(document.elementFromPoint(box.left + box.width / 2, (top + bottom) / 2));
	})(` + node + `)`
}

// watchesMarks collects in marked which parts of the page show that they changed.
func (o *operated) watchesMarks() {
	o.t.Helper()
	o.Want(`(globalThis.marked = new Set(), new MutationObserver((changes) => {
		for (const { target } of changes) if (target.classList.contains("changed")) marked.add(target.closest("[id]:not(button)").id);
	}).observe(document.querySelector("main"), { subtree: true, attributes: true, attributeFilter: ["class"] }), true)`)
}

// drags moves the session by so many days.
func (o *operated) drags(days float64) {
	o.t.Helper()
	o.Await(sessionEvent)
	width, err := strconv.ParseFloat(o.Text(`document.querySelector("#week .ec-body .ec-day").getBoundingClientRect().width`), 64)
	if err != nil {
		o.t.Fatal(err)
	}
	o.Drag(sessionEvent, days*width, 0)
}

// TestDemoPage_BreakIt_Recovers breaks what the page offers to break: the poll falls
// behind, and catches up without anybody's help.
func TestDemoPage_BreakIt_Recovers(t *testing.T) {
	t.Parallel()
	o := operate(t, "QS_SYNC_MIN_GAP=20ms")
	o.Size(1280, 720, false)
	o.opensTheDemo()
	for _, fault := range []string{"delay", "tokens", "outage", "channel"} {
		o.press("break-" + fault)
		o.phase(fault, "armed")
		o.press("move-hour")
		o.phase(fault, "recovered")
		o.Await(`document.getElementById("strip").dataset.agree === "yes"`)
		o.Want(`/^Calendar says .+ · Poll says /.test(document.getElementById("strip").textContent)`)
		o.press("heal")
		o.Await(`document.getElementById("strip").hidden`)
		o.Await(`document.getElementById("status").textContent.includes("Nothing is broken")`)
	}
}
