package main

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/internal/accounts"
	"questscheduler/internal/fault"
)

//go:embed demo_page.html
var demoPageSource string

var demoPage = template.Must(template.New("demo").Parse(demoPageSource))

// sayLocal refuses a request that was not made on this machine for this machine. The
// demo's pages and controls need no token and show the demo's tokens, so a browser
// must not read them under a foreign name that resolves to this machine.
const sayLocal = "The demo answers on this machine alone: use its address as it was printed, such as http://127.0.0.1:8080/demo."

// servePage adds the page that shows where everything is and what to try.
func (d *demo) servePage() {
	d.edge.GET("/demo", func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
		c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		c.Response().WriteHeader(http.StatusOK)
		return demoPage.Execute(c.Response(), d.ready())
	}, d.localPage)
	d.edge.GET("/demo/link", d.link, d.localPage)
	d.edge.POST("/demo/restart-worker", d.restartWorker, localCall)
}

// link begins to link a Google account of the simulator for a member of the party.
func (d *demo) link(c echo.Context) error {
	person := d.person(c.QueryParam("user"))
	if _, known := d.world.Users[person.ID]; !known {
		return fault.New(fault.NotFound, "There is nobody of that name in the party.")
	}
	ticket, _, err := d.consents.Ticket(c.Request().Context(), accounts.Ask{PersonID: person.ID, PersonName: person.Email, ReturnTo: "/demo"})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusFound, api.PathStart+"?"+url.Values{"ticket": {ticket}}.Encode())
}

// localPage keeps a page to this machine and redirects its other names, such as
// localhost, to the printed address: Google sends the browser back there, and a
// cookie stays with the name that it was set under.
func (d *demo) localPage(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		if !api.FromThisMachine(request) {
			return fault.New(fault.Forbidden, sayLocal)
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
