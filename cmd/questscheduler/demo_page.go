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

// servePage shows where everything of the demo is and what to try. It holds the
// demo's tokens, as what the demo prints does: it answers this machine alone.
func (d *demo) servePage(edge *echo.Echo) {
	edge.GET("/demo", func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
		c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		c.Response().WriteHeader(http.StatusOK)
		return demoPage.Execute(c.Response(), d.ready())
	}, d.localPage)
	edge.GET("/demo/link", d.link, d.localPage)
}

// link begins to link a Google account of the simulator for one of the party,
// whom the page stands in for.
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
