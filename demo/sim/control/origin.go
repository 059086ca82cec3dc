package control

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// errForeign is the answer to pages of other origins.
var errForeign = errors.New("only the demo's own page, or a program that is no browser, may use the controls")

// FromOwnPage refuses what a browser sends to the controls of a simulator for a page of
// another origin, with 403: it sends many such requests without asking first, whether or
// not the page may read the answer. Pages of the simulator itself and of the trusted
// origin ("": none) may use them, and so may what names no origin, as programs do.
func FromOwnPage(simulator http.Handler, trusted string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/_sim/") && foreign(r, trusted) {
			Refuse(w, http.StatusForbidden, errForeign)
			return
		}
		simulator.ServeHTTP(w, r)
	})
}

// foreign goes by Origin, and without one by Sec-Fetch-Site, which browsers send with the
// request for an image as well. A person who types an address is "none".
func foreign(r *http.Request, trusted string) bool {
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		own := "http://" + r.Host
		return slices.ContainsFunc(origins, func(origin string) bool { return origin != own && (trusted == "" || origin != trusted) })
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "none" && site != "same-origin"
}
