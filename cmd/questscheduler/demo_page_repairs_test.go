package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestDemoPage_WhatFailed_Works holds what a newcomer ran into.
func TestDemoPage_WhatFailed_Works(t *testing.T) {
	t.Parallel()
	o := operate(t, "QS_SYNC_MIN_GAP=20ms")
	o.Size(1440, 900, false)
	o.opensTheDemo()
	o.opensByEnter()
	o.leavesADraft()
	o.cannotDragAGhost()
	o.undoesWhatWasRefused()
	o.keepsTheLength()
	o.makesAPoll()
	o.goesToAFinalisedEvent()
	o.opensFromTheChannel()
	o.readsOneZone()
	o.isSignedInToTheDashboard()
	for _, said := range o.Problems() {
		if !strings.Contains(said, "status of 503") { // the undo that is refused
			t.Errorf("the console complains: %q", said)
		}
	}
}

// opensByEnter: the key that opens the dialog does not also press a button of it.
func (o *operated) opensByEnter() {
	o.t.Helper()
	o.TabUntil(sessionEvent + ` === document.activeElement`)
	o.Type(kb.Enter)
	o.Await(`document.getElementById("event-form").open && document.activeElement.id === "event-title"`)
	o.Want(`document.getElementById("status").textContent.trim() === ""`)
	o.Type(kb.Escape)
	o.Await(`!document.getElementById("event-form").open`)
}

// leavesADraft: an event is made when it is saved, and not before.
func (o *operated) leavesADraft() {
	o.t.Helper()
	before, made := o.Text(`document.querySelectorAll("#week [data-event]").length`), o.calls("events.insert")
	o.Click(`document.querySelector("#week .ec-all-day .ec-day")`)
	o.Await(`document.getElementById("event-form").open && document.getElementById("event-all-day").checked`)
	o.Want(`document.getElementById("event-delete").hidden`)
	o.Type(kb.Escape)
	o.Await(`!document.getElementById("event-form").open`)
	o.Want(`document.querySelectorAll("#week [data-event]").length === ` + before)
	if calls := o.calls("events.insert"); calls != made {
		o.t.Errorf("a draft that was left made an event: %d inserts, %d before", calls, made)
	}
}

// cannotDragAGhost: a deleted event stays where it was.
func (o *operated) cannotDragAGhost() {
	o.t.Helper()
	o.Click(sessionEvent)
	o.press("event-delete")
	o.Await(badge + ` === "Cancelled"`)
	o.Await(`document.querySelector("#week .event-deleted")`)
	o.drags(1)
	o.Want(`document.querySelector("#status").textContent.includes("You deleted")`)
	o.undoes()
}

// undoesWhatWasRefused: an undo that Google refused can be asked for again.
func (o *operated) undoesWhatWasRefused() {
	o.t.Helper()
	o.drags(-1)
	o.Await(badge + ` === "Rescheduled"`)
	o.plant("events.patch", map[string]any{"status": 503, "times": 1})
	o.Click(`document.querySelector("#week .ec-undo")`)
	o.Await(`document.querySelector("#status").dataset.kind === "problem"`)
	o.undoes()
}

// keepsTheLength: an event that was all-day gets its former length when it has hours again.
func (o *operated) keepsTheLength() {
	o.t.Helper()
	const name = sessionEvent + `.getAttribute("aria-label")`
	o.Drag(sessionEvent+`.querySelector(".ec-resizer")`, 0, -48)
	o.Await(name + `.includes("19:00 to 22:00")`)
	up := o.toTheDaysRow()
	o.Drag(sessionEvent, 0, up)
	o.Await(name + `.includes("all day")`)
	o.Drag(sessionEvent, 0, -up)
	o.Await(`/\d\d:\d\d to \d\d:\d\d/.test(` + name + `)`)
	o.Want(`((found) => (found[2] - found[1] + 24) % 24 === 3)(/(\d\d):\d\d to (\d\d)/.exec(` + name + `))`)
	for range 3 {
		o.Click(`document.querySelector("#week .ec-undo")`)
	}
	o.Await(badge + ` === "Finalised"`)
}

// toTheDaysRow is how far the session is below the row of all-day events, as less than 0.
func (o *operated) toTheDaysRow() float64 {
	o.t.Helper()
	up, err := strconv.ParseFloat(o.Text(`(`+sessionEvent+`.scrollIntoView({ block: "center" }),
		((node, row) => row.y + row.height / 2 - node.y - node.height / 2)(`+sessionEvent+`.getBoundingClientRect(),
			document.querySelector("#week .ec-all-day .ec-day").getBoundingClientRect()))`), 64)
	if err != nil {
		o.t.Fatal(err)
	}
	return up
}

// makesAPoll: a title, three times, done; a player can choose and read every poll.
func (o *operated) makesAPoll() {
	o.t.Helper()
	o.press("poll-new")
	o.Await(`document.getElementById("new-poll").open`)
	o.Type("The Glass Tower" + kb.Enter)
	o.Await(`document.getElementById("poll-heading")?.textContent.includes("The Glass Tower")`)
	o.Want(`document.querySelectorAll("#poll .votes tbody tr").length === 3`)
	o.press("person-ana")
	o.Await(`document.querySelectorAll("#poll-choice option").length === 4`)
	o.chooses("open")
	o.Await(`document.getElementById("poll-heading")?.textContent.includes("The Sunken Keep")`)
	o.press("person-gm")
}

// chooses shows one of the seeded polls.
func (o *operated) chooses(poll string) {
	o.t.Helper()
	o.Await(fmt.Sprintf(`((choice) => {
		choice.value = %q;
		return choice.value === %q && choice.dispatchEvent(new Event("change"));
	})(document.getElementById("poll-choice"))`, o.ready.Polls[poll], o.ready.Polls[poll]))
}

// goesToAFinalisedEvent: the week shows the event that finalising made.
func (o *operated) goesToAFinalisedEvent() {
	o.t.Helper()
	for range 3 {
		o.Click(`document.querySelector("#week .ec-next")`)
	}
	o.Await(`document.getElementById("poll-finalise")`)
	o.press("poll-finalise")
	o.Await(`[...document.querySelectorAll("#week .event-session")].some((node) => node.textContent.includes("The Sunken Keep") && ` +
		seen("node") + `)`)
}

// opensFromTheChannel: a message's link opens the poll in this page, and so does a new tab.
func (o *operated) opensFromTheChannel() {
	o.t.Helper()
	o.press("person-ben")
	// Not by the mouse: a card that is edited, or a new message, may move the link from under it.
	o.Await(`([...document.querySelectorAll("#discord .embed")].find((card) => card.textContent.includes("The Long Road")).querySelector("a").click(), true)`)
	o.Await(`document.getElementById("poll-heading")?.textContent.includes("The Long Road")`)
	o.Go(o.ready.API + "/scheduler/" + o.ready.Polls["finalized"] + "?ref=card")
	o.Await(`document.documentElement.dataset.ready === "yes"`)
	o.Await(`document.getElementById("poll-heading")?.textContent.includes("A Quiet Tavern")`)
}

// readsOneZone: the calendar, the poll and the channel name the same hour, in the poll's
// zone and in the viewer's.
func (o *operated) readsOneZone() {
	o.t.Helper()
	for _, query := range []string{"", "?zone=own"} {
		o.Go(o.ready.Page + query)
		o.Await(`document.documentElement.dataset.ready === "yes"`)
		o.Await(sessionEvent)
		zone := `Intl.DateTimeFormat().resolvedOptions().timeZone`
		if query == "" {
			zone = `"Europe/Berlin"`
		}
		o.Want(`document.getElementById("zone").textContent.startsWith("Times in " + ` + zone + `)`)
		o.Await(`((hour) => ` + sessionEvent + `.textContent.includes(hour) &&
			[...document.querySelectorAll("#discord .embed")].some((card) => card.textContent.includes("The Long Road") && card.textContent.includes("at " + hour))
		)(/\d\d:\d\d/.exec(` + pollTime + `.textContent)[0])`)
	}
}

// isSignedInToTheDashboard: the link leads to the operator's page, and no token is asked for.
func (o *operated) isSignedInToTheDashboard() {
	o.t.Helper()
	o.Await(`(document.querySelector("#links a").click(), true)`)
	o.Await(`location.pathname === "/dashboard" && document.getElementById("sign-out")`)
}
