// Package dashboard renders the page on which an operator sees whether sync works,
// and does what a person has to: watch channels, accounts, outside work, held
// cancellations, the timers, the latest of the journals. The page is whole and
// loads nothing from elsewhere. Package api decides who may see it and what its
// buttons do.
package dashboard

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/operations/health"
)

//go:embed page.html sign_in.html
var pages embed.FS

// Assets are the files that the pages load, in a folder assets.
//
//go:embed assets
var Assets embed.FS

// refreshEvery is how often the page fetches itself while it is visible.
const refreshEvery = 5 * time.Second

// Policy is the content security policy of the pages: they load their own style,
// script and icon, and send forms to where they came from.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"moment": moment, "every": every, "short": short, "when": when,
	"len64": func(rows []mappings.Skipped) int64 { return int64(len(rows)) },
	"shown": shown, "hidden": func(all []health.Calendar) int { return len(all) - len(shown(all)) },
}).ParseFS(pages, "*.html"))

// Page is an overview with what only this request knows.
type Page struct {
	health.Overview
	// Version is the program's, and Admin who is signed in.
	Version, Admin string
	// Notice says what a button just did; "" where none was pressed. Failed tells
	// that it did not do it.
	Notice string
	Failed bool
	// NextAccounts is the address of the next page of accounts, "" where there is
	// none; Further tells that this is not the first.
	NextAccounts string
	Further      bool
	// NextRegister is where the registering of channels goes on that had no time
	// to come to its end; "": nothing is left.
	NextRegister string
}

// RefreshSeconds is how often the page fetches itself.
func (Page) RefreshSeconds() int { return int(refreshEvery.Seconds()) }

// Render writes the page.
func Render(out io.Writer, page Page) error { return templates.ExecuteTemplate(out, "page.html", page) }

// SignIn is the page of a visitor who is not signed in.
type SignIn struct {
	// Failed tells that the token was not accepted.
	Failed bool
	// Out tells that the visitor just signed out.
	Out bool
}

// RenderSignIn writes it.
func RenderSignIn(out io.Writer, page SignIn) error {
	return templates.ExecuteTemplate(out, "sign_in.html", page)
}

// maxCalendars is how many calendars of one account are shown.
const maxCalendars = 12

func shown(all []health.Calendar) []health.Calendar { return all[:min(len(all), maxCalendars)] }

// Moment is a time as the page shows it: how far away, and which.
type Moment struct{ Exact, Shown, Machine string }

func moment(now, at time.Time) Moment {
	if at.IsZero() {
		return Moment{Shown: "never"}
	}
	at = at.UTC()
	return Moment{Exact: at.Format("Mon 2 Jan 2006, 15:04:05 UTC"), Machine: at.Format(time.RFC3339), Shown: away(at.Sub(now))}
}

// when is a moment without how far away it is.
func when(at time.Time) Moment {
	at = at.UTC()
	return Moment{Exact: at.Format(time.RFC3339), Machine: at.Format(time.RFC3339), Shown: at.Format("2 Jan 15:04:05")}
}

// away says how far away something is.
func away(d time.Duration) string {
	size := d.Abs()
	var text string
	switch {
	case size < time.Minute:
		return "just now"
	case size < 2*time.Hour:
		text = count(size, time.Minute, "minute")
	case size < 48*time.Hour:
		text = count(size, time.Hour, "hour")
	default:
		text = count(size, 24*time.Hour, "day")
	}
	if d < 0 {
		return text + " ago"
	}
	return "in " + text
}

func count(d, unit time.Duration, name string) string {
	n := int(d / unit)
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprint(n, " ", name, "s")
}

// every is a period in words.
func every(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if d >= unit.of && d%unit.of == 0 {
			return strings.TrimPrefix(count(d, unit.of, unit.name), "1 ")
		}
	}
	return d.String()
}

// short is the beginning of a long id.
func short(id string) string {
	if len(id) > 12 {
		return id[:8] + "…"
	}
	return id
}
