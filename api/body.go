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

	"questscheduler/fault"
)

const (
	maxBody = 1 << 20
	// maxDepth is how deep objects and lists may be nested: more than any route
	// takes, and far from what parsing could stumble over.
	maxDepth = 32
)

// checkBody reads the whole body and refuses one that is too large, not UTF-8 or
// nested too deep, before anything parses it. Package bodylimit bounds how long
// that may take.
func checkBody(ctx huma.Context) (huma.Context, error) {
	c := humaecho.Unwrap(ctx)
	request := c.Request()
	body, err := readBody(c)
	switch {
	case err != nil:
		return nil, err
	case len(body) == 0:
	case !isJSON(request.Header):
		return nil, fault.New(fault.Invalid, "Send the body as application/json.")
	case !utf8.Valid(body):
		return nil, fault.New(fault.Invalid, "The body is not UTF-8 text.")
	case depth(body) > maxDepth:
		return nil, fault.New(fault.Invalid, "The body's objects and lists lie too deep in each other.")
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	return ctx, nil
}

func readBody(c echo.Context) ([]byte, error) {
	request, errTooLarge := c.Request(), fault.New(fault.TooLarge, "The body is over 1 MiB. Send less.")
	if request.ContentLength > maxBody {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), request.Body, maxBody))
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		return nil, errTooLarge
	case err != nil:
		return nil, fault.Wrap(fault.Invalid, err, "The body did not arrive whole. Send it again.")
	}
	return body, nil
}

// isJSON reports whether the header says JSON or nothing, and sets it to the one
// form that huma knows.
func isJSON(header http.Header) bool {
	said := header.Get(echo.HeaderContentType)
	if said == "" {
		return true
	}
	kind, _, err := mime.ParseMediaType(said)
	header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	return err == nil && kind == echo.MIMEApplicationJSON
}

// depth is how deep objects and lists are nested, in text that may not be JSON.
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
