package main

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/internal/fault"
)

// sayLocal is what a request is answered that was not made on this machine for
// this machine. The demo's pages and controls need no token, and the page holds
// the demo's tokens, so a browser must not read them under a name of somebody
// else that was made to lead here.
const sayLocal = "The demo answers on this machine alone: use its address as it was printed, such as http://127.0.0.1:8080/demo."

// localPage keeps a page of the demo to this machine, and leads a browser that asks
// under another of its names, such as localhost, to the printed address: Google
// sends it back there, and a cookie stays with the name that it was set under.
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

// localOnly keeps a simulator to this machine, its controls included.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !api.FromThisMachine(r) {
			http.Error(w, sayLocal, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
