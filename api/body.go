package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"questscheduler/internal/fault"
)

// Limits of a body.
const (
	maxBody = 1 << 20
	// maxDepth is how deep objects and lists may lie in each other: more than
	// any route takes, and far from what parsing could stumble over.
	maxDepth = 32
)

// checkBody reads the body whole and refuses what is too large, no UTF-8 or
// nested too deep, before anything parses it.
func (s *server) checkBody(ctx huma.Context, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	body, err := readBody(c)
	if err == nil {
		err = checkText(body, c.Request().Header)
	}
	if err != nil {
		s.answerError(err, c)
		return
	}
	c.Request().Body = io.NopCloser(bytes.NewReader(body))
	next(ctx)
}

// readBody reads the body; how long it may take is package bodylimit's.
func readBody(c echo.Context) ([]byte, error) {
	request := c.Request()
	if request.ContentLength > maxBody {
		return nil, errTooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), request.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errTooLarge()
	case err != nil:
		return nil, fault.Wrap(fault.Invalid, err, "The body did not arrive whole. Send it again.")
	}
	return body, nil
}

func errTooLarge() error {
	return fault.New(fault.TooLarge, "The body is over 1 MiB. Send less.")
}

func checkText(body []byte, header http.Header) error {
	switch {
	case len(body) == 0:
		return nil
	case !isJSON(header):
		return fault.New(fault.Invalid, "Send the body as application/json.")
	case !utf8.Valid(body):
		return fault.New(fault.Invalid, "The body is not UTF-8 text.")
	case depth(body) > maxDepth:
		return fault.New(fault.Invalid, "The body's objects and lists lie too deep in each other.")
	}
	return nil
}

// isJSON tells whether a body is said to be JSON, which it is where nothing is
// said, and has the header say it in the one way that huma knows.
func isJSON(header http.Header) bool {
	said := header.Get(echo.HeaderContentType)
	if said == "" {
		return true
	}
	kind, _, err := mime.ParseMediaType(said)
	header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	return err == nil && kind == echo.MIMEApplicationJSON
}

// depth is how deep objects and lists lie in each other, in text that may not
// be JSON at all.
func depth(body []byte) int {
	level, deepest, inText := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case inText && b == '\\':
			i++
		case b == '"':
			inText = !inText
		case inText:
		case b == '{' || b == '[':
			level++
			deepest = max(deepest, level)
		case b == '}' || b == ']':
			level--
		}
	}
	return deepest
}
