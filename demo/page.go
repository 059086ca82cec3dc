package demo

import (
	"embed"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
)

// pageFiles is the demo's page: scripts that run as they are, and the calendar
// widget in vendor with its licence.
//
//go:embed page
var pageFiles embed.FS

// sayLocal refuses a request that was not made on this machine for this machine. The
// demo's pages and controls need no token and show the demo's tokens, so a browser
// must not read them under a foreign name that resolves to this machine.
const sayLocal = "The demo answers on this machine alone: use its address as it was printed, such as http://127.0.0.1:8080/demo."

// servePage adds the page at /demo with its assets, the addresses and tokens that it
// works with (the object of demo --json), and the commands that demo --verbose prints.
func (d *Demo) servePage(assets fs.FS) {
	// No echo.Group: it would answer other methods than GET too.
	get := func(path string, handle echo.HandlerFunc) { d.program.Edge.GET("/demo"+path, handle, d.localPage) }
	get("", func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderContentSecurityPolicy, d.pagePolicy())
		index, err := fs.ReadFile(assets, "index.html")
		if err != nil {
			return err
		}
		return c.HTMLBlob(http.StatusOK, index)
	})
	get("/assets/*", echo.WrapHandler(http.StripPrefix("/demo/assets/", http.FileServerFS(assets))))
	get("/world", func(c echo.Context) error { return c.JSON(http.StatusOK, d.Ready()) })
	get("/commands", func(c echo.Context) error {
		var text strings.Builder
		if err := d.Ready().WriteCommands(&text); err != nil {
			return err
		}
		return c.String(http.StatusOK, text.String())
	})
	get("/link", d.link)
	get("/dashboard", d.dashboard)
	// The channel's links lead to the web app, whose part this page plays.
	d.program.Edge.GET("/scheduler/:id", func(c echo.Context) error {
		return c.Redirect(http.StatusFound, "/demo?"+url.Values{"poll": {c.Param("id")}}.Encode())
	}, d.localPage)
	d.program.Edge.POST("/demo/restart-worker", d.restartWorker, localCall)
}

// pagePolicy lets the page run its own scripts alone, and call the server and the
// simulators alone.
func (d *Demo) pagePolicy() string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' " +
		d.sims.GoogleURL() + " " + d.sims.DiscordURL() + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// link begins to link a Google account of the simulator for a member of the party: the
// account of an id again, or without one any.
func (d *Demo) link(c echo.Context) error {
	person := d.person(c.QueryParam("user"))
	if _, known := d.world.Users[person.ID]; !known {
		return fault.New(fault.NotFound, "There is nobody of that name in the party.")
	}
	ticket, _, err := d.program.Consents.Ticket(c.Request().Context(), accounts.Ask{
		PersonID: person.ID, PersonName: person.Email, AccountID: c.QueryParam("account"), ReturnTo: "/demo",
	})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusFound, api.PathStart+"?"+url.Values{"ticket": {ticket}}.Encode())
}

// dashboard opens the operator's page, signed in as the demo's admin.
func (d *Demo) dashboard(c echo.Context) error {
	for _, cookie := range api.AdminCookies(d.world.AdminToken, false) {
		c.SetCookie(cookie)
	}
	return c.Redirect(http.StatusFound, "/dashboard")
}

// localPage keeps a page to this machine and redirects its other names, such as
// localhost, to the printed address: Google sends the browser back there, and a
// cookie stays with the name that it was set under.
func (d *Demo) localPage(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		if !api.FromThisMachine(request) {
			return fault.New(fault.Forbidden, sayLocal)
		}
		if d.seeding.Load() {
			return &fault.Error{Kind: fault.Unavailable, Message: "The demo is being set up. Try again in a moment.", RetryAfter: time.Second}
		}
		if "http://"+request.Host != d.url() {
			return c.Redirect(http.StatusFound, d.url()+request.URL.RequestURI())
		}
		return next(c)
	}
}

// localOnly keeps a simulator, with its controls, to this machine.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !api.FromThisMachine(r) {
			http.Error(w, sayLocal, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
