package callables

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// The parts of a function's path: /{name} on a domain of its own, and
// /{project}/{region}/{name} as emulators are called.
var (
	namePart    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,62}$`)
	projectPart = regexp.MustCompile(`^[a-z][a-z0-9.:-]{2,62}$`)
	regionPart  = regexp.MustCompile(`^[a-z]+-[a-z]+[0-9]{1,2}$`)
)

// nameOf returns the function that a request's path names, ours or not; ok is
// false if the path names none.
func (s *server) nameOf(r *http.Request) (name string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	name = parts[len(parts)-1]
	switch {
	case !namePart.MatchString(name):
		return "", false
	case len(parts) == 1:
		return name, !slices.Contains(s.taken(), name)
	case len(parts) == 3:
		return name, projectPart.MatchString(parts[0]) && regionPart.MatchString(parts[1])
	default:
		return "", false
	}
}

// paths are the first parts of e's routes, which are not names of functions.
func paths(e *echo.Echo) []string {
	var first []string
	for _, route := range e.Routes() {
		part, _, _ := strings.Cut(strings.TrimPrefix(route.Path, "/"), "/")
		first = append(first, part)
	}
	return first
}
