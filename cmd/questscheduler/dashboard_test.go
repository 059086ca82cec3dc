package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"questscheduler/demo"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/chromium"
)

// operated is a demo in this process, with access to its parts, and a browser.
type operated struct {
	*outside
	*chromium.Browser
	demo *openedDemo
}

// operate starts them.
func operate(t *testing.T, environ ...string) *operated {
	t.Helper()
	b := chromium.Open(t)
	ctx := context.WithoutCancel(t.Context())
	d, err := openTestDemo(ctx, demo.Place{Dir: dataDir(t), Addr: "127.0.0.1:0"}, Process{Environ: environ, Stderr: testLog{t}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.End(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	return &operated{&outside{t, d.Ready()}, b, d}
}

// fails records work that kept failing and would succeed now, and returns its ID.
func (o *operated) fails() string {
	o.t.Helper()
	return failingWork(o.t, o.demo.program)
}

// failingWork records work of a group that kept failing, of which nothing is to do now, and
// returns its ID.
func failingWork(t *testing.T, p *program) string {
	t.Helper()
	id := p.newID()
	err := p.documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Create(poll.GroupWorkPath(id), map[string]any{
			"due": p.now().Add(8 * time.Hour), "ref": "1", "attempts": 9, "failedSince": p.now().Add(-time.Hour), "error": "provider", "pollId": id,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return poll.GroupWorkKind + ":" + id
}

// signIn signs the admin in by keyboard only.
func (o *operated) signIn() {
	o.t.Helper()
	o.Go(o.ready.API + "/dashboard")
	o.Await(`document.activeElement.id === "token"`)
	o.Type(o.ready.AdminToken)
	o.Type(kb.Enter)
	o.Await(`document.getElementById("watches")`)
}

func TestDashboard_InABrowser(t *testing.T) {
	t.Parallel()
	o := operate(t, "QS_SYNC_MIN_GAP=20ms", "QS_MASS_CANCEL_MIN=1", "QS_MASS_CANCEL_SHARE=0.1")
	o.Size(800, 400, false)
	o.signIn()
	problems := len(o.Problems()) // that nobody was signed in, at the most

	first, second := newSession(o.outside, "gm"), newSession(o.outside, "gm")
	o.showsWhatHappensAtOnce()
	o.retriesByKeyboard()
	o.confirmsByKeyboard(first, second)
	o.keepsWhatSomebodyChooses()
	o.fitsAPhone()
	o.isDarkInTheDark()
	o.worksWithoutScripts()

	if said := o.Problems()[problems:]; len(said) > 0 {
		t.Errorf("the console complains: %q", said)
	}
	if ours, err := url.Parse(o.ready.API); err != nil || !slices.Equal(o.Hosts(), []string{ours.Host}) {
		t.Errorf("the page asked %v", o.Hosts())
	}
	o.signsOut() // after which the console says 401
}

// showsWhatHappensAtOnce: an event's deletion in the calendar appears in the page
// without a reload.
func (o *operated) showsWhatHappensAtOnce() {
	o.t.Helper()
	o.shootSections("dashboard", "watches", "accounts", "held")
	o.Await(`window.sameAsBefore = true`)
	linked, err := o.poll(o.ready.Polls["linked"])
	if err != nil {
		o.t.Fatal(err)
	}
	event, _ := linked["google_event_id"].(string)
	if got, err := o.event("DELETE", event, nil); err != nil || got.status != http.StatusNoContent {
		o.t.Fatalf("the event is not deleted: %v %v", got, err)
	}
	o.Await(`document.getElementById("journal-list").textContent.includes("CANCELLED")`)
	o.Want(`window.sameAsBefore`)
}

// retriesByKeyboard: work that keeps failing appears without a reload, is reached and retried
// without a mouse, and disappears.
func (o *operated) retriesByKeyboard() {
	o.t.Helper()
	button := "retry-" + o.fails()
	o.Await(`document.getElementById("` + button + `")`)
	o.Want(`document.getElementById("concerns").textContent.includes("1 piece of work keeps failing")`)
	o.TabTo(button)
	o.Want(`getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	o.shootSections("dashboard-failing-work", "work")
	o.Type(kb.Enter)
	o.Await(`document.body.textContent.includes("The work is tried again.")`)
	o.Await(`!document.getElementById("` + button + `")`)
	o.Await(`!location.search`) // the script comes when the page is there
}

// confirmsByKeyboard: the cancellations of sessions that lost their events in a gap are
// held until an admin confirms them.
func (o *operated) confirmsByKeyboard(first, second *session) {
	o.t.Helper()
	o.Go(o.ready.API + "/dashboard") // without the notice of the retry
	o.plant("push", map[string]any{"drop": true})
	for _, s := range []*session{first, second} {
		s.google("DELETE", nil).want(o.t, http.StatusNoContent)
	}
	o.sim("POST", "expire-sync-tokens", nil)
	o.heal()
	first.ask("sync", nil)
	o.Await(`document.querySelectorAll("#held-list input[type=checkbox]").length === 2`)
	o.TabTo("held-" + second.id)
	o.Type(" ") // this one is no cancellation yet
	o.shootSections("dashboard-held", "held", "accounts")
	button := o.elementID(`[id^="confirm-"]`)
	o.TabTo(button)
	o.Type(" ")
	o.Await(`document.body.textContent.includes("Confirmed: 1 events are checked again")`)
	first.becomesCancelled()
	if got, err := second.poll(); err != nil || got["status"] != "FINALIZED" {
		o.t.Errorf("the poll that was not chosen is %v (%v)", got["status"], err)
	}
}

// keepsWhatSomebodyChooses: a refresh does not clear a selection.
func (o *operated) keepsWhatSomebodyChooses() {
	o.t.Helper()
	o.Await(`document.querySelectorAll("#held-list input[type=checkbox]").length === 1`)
	box := o.elementID(`#held-list input[type=checkbox]`)
	o.TabTo(box)
	o.Type(" ")
	o.Want(`!document.getElementById("` + box + `").checked`)
	o.Await(`window.shownThen = document.getElementById("asof").textContent`)
	o.Await(`document.getElementById("asof").textContent !== window.shownThen`)
	o.Want(`document.activeElement.id === "` + box + `" && !document.activeElement.checked`)
}

// shootSections takes a picture of the page's header and some of its sections, for
// docs/: one of all sections is too long there. Scrollbars do not belong to the page.
func (o *operated) shootSections(name string, headings ...string) {
	o.t.Helper()
	display := func(hidden, scrollbars string) {
		o.Await(`[...document.querySelectorAll("main > section")].every((section) => {
			document.documentElement.style.scrollbarWidth = "` + scrollbars + `"
			section.style.display = ["` + strings.Join(headings, `", "`) + `"].includes(section.getAttribute("aria-labelledby")) ? "" : "` + hidden + `"
			return true
		})`)
	}
	display("none", "none")
	o.ShootBody(name)
	display("", "")
}

// elementID is the ID of the first element that a selector matches.
func (o *operated) elementID(selector string) string {
	o.t.Helper()
	return o.Text(`document.querySelector(` + "`" + selector + "`" + `).id`)
}

// fitsAPhone: nothing is wider than the screen, and buttons are large enough for a
// finger.
func (o *operated) fitsAPhone() {
	o.t.Helper()
	o.Size(360, 740, true)
	o.Go(o.ready.API + "/dashboard")
	o.Await(`document.getElementById("journal")`)
	o.Want(`document.documentElement.scrollWidth <= 360`)
	o.Want(`[...document.querySelectorAll("button, .button")].every((b) => b.getBoundingClientRect().height >= 44)`)
	o.Shoot("phone")
}

// lightness is the lightness of a colour of the body, from 0 to 255.
const lightness = `((name) => getComputedStyle(document.body)[name].match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3)`

func (o *operated) isDarkInTheDark() {
	o.t.Helper()
	o.Want(lightness + `("backgroundColor") > 200 && ` + lightness + `("color") < 80`)
	o.Dark(true)
	o.Want(lightness + `("backgroundColor") < 60 && ` + lightness + `("color") > 180`)
	o.Shoot("phone-dark")
	o.Size(1200, 900, false)
	o.Shoot("desktop-dark")
	o.Dark(false)
}

func (o *operated) worksWithoutScripts() {
	o.t.Helper()
	button := "retry-" + o.fails()
	o.Scripts(false)
	o.Go(o.ready.API + "/dashboard")
	o.TabTo(button)
	o.Type(kb.Enter)
	o.Await(`document.body.textContent.includes("The work is tried again.")`)
}

func (o *operated) signsOut() {
	o.t.Helper()
	o.TabTo("sign-out")
	o.Type(kb.Enter)
	o.Await(`document.body.textContent.includes("You are signed out.")`)
	o.Shoot("sign-in")
	if !strings.Contains(o.Text(`document.title`), "Sign in") {
		o.t.Error("the page is not that of the sign-in")
	}
}
