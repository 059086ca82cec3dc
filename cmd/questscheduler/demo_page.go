package main

import (
	_ "embed"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"
)

//go:embed demo_page.html
var demoPageSource string

var demoPage = template.Must(template.New("demo").Parse(demoPageSource))

// servePage shows where everything of the demo is and what to try. It holds the
// demo's tokens, as what the demo prints does: it answers on loopback alone.
func (d *demo) servePage(edge *echo.Echo) {
	edge.GET("/demo", func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
		c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		c.Response().WriteHeader(http.StatusOK)
		return demoPage.Execute(c.Response(), d.ready())
	})
}
