package main

import (
	"github.com/chromedp/chromedp/kb"
)

// changesTheWeek: an event can be pulled longer, dragged to the all-day row and back by
// the button, made, renamed, and moved to another calendar.
func (o *operated) changesTheWeek() {
	o.t.Helper()
	o.Drag(sessionEvent+`.querySelector(".ec-resizer")`, 0, 48)
	o.Await(badge + ` === "Rescheduled"`)
	o.Await(`document.querySelector("#status").textContent.includes("changed the length")`)
	o.undoes()

	o.Drag(sessionEvent, 0, o.toTheDaysRow())
	o.Await(`document.querySelector("#status").textContent.includes("all day")`)
	o.Await(badge + ` === "Rescheduled"`)
	o.undoes()

	o.Click(`document.querySelector("#week .ec-create")`)
	o.Await(`document.getElementById("event-form").open`)
	o.Type("Library" + kb.Enter)
	o.Await(`!document.getElementById("event-form").open`)
	const library = `[...document.querySelectorAll("#week [data-event]")].find((node) => node.textContent.includes("Library"))`
	o.Await(library)
	o.Click(library)
	o.Await(`document.getElementById("event-form").open`)
	o.TabTo("event-calendar")
	o.Type("S" + kb.Enter)
	o.press("event-save")
	o.Await(library + `?.getAttribute("aria-label").includes("calendar Side quests")`)
}

// undoes takes the last act back, and the poll is as it was.
func (o *operated) undoes() {
	o.t.Helper()
	o.Click(`document.querySelector("#week .ec-undo")`)
	o.Await(badge + ` === "Finalised"`)
}

// showsBusyCopies: the session appears as busy time in the second account, and goes
// from it.
func (o *operated) showsBusyCopies() {
	o.t.Helper()
	o.Await(`document.getElementById("second").open = true`)
	o.TabTo("mirror-detail")
	o.Type("a") // as Busy
	o.Await(`document.querySelector("#second .agenda").textContent.includes("in “External Busy”")`)
	o.Type(kb.ArrowUp) // not at all
	o.Await(`!document.querySelector("#second .agenda").textContent.includes("Busy")`)
}
