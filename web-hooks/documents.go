package webhooks

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
)

// Documents accepts changes of polls' documents (documentchanges.Intake). nil: the
// poll will be checked after the call.
type Documents interface {
	Changed(ctx context.Context, pollID, trace string) error
}

// PathDocuments is where Eventarc reports writes of documents.
const PathDocuments = "/webhooks/documents"

// maxEvent limits an event: a document may have 1 MiB, and an event holds it before
// and after.
const maxEvent = 8 << 20

// RegisterDocuments adds the route of Eventarc's events to e, for machines alone.
// An event only triggers a check of its poll; its data is never used. 202: the poll
// will be checked; 204: the event is about something else; 400: it is not an event;
// 503: send it again.
func RegisterDocuments(e *echo.Echo, machines Machines, documents Documents) {
	e.POST(PathDocuments, func(c echo.Context) error {
		document, err := documentOf(c)
		if err != nil {
			return err
		}
		id := pollOf(document)
		if id == "" {
			return c.NoContent(http.StatusNoContent)
		}
		trace := c.Response().Header().Get(echo.HeaderXRequestID)
		if err := documents.Changed(c.Request().Context(), id, trace); err != nil {
			failed := fault.Wrap(fault.Unavailable, err, "The event could not be handed over. Send it again.")
			failed.RetryAfter = retryPush
			return failed
		}
		return c.NoContent(http.StatusAccepted)
	}, OnlyMachines(machines))
}

// pollOf is the poll that a document belongs to, as itself, a slot or a vote; ""
// for any other document.
func pollOf(document string) string {
	parts := strings.Split(document, "/")
	if parts[0] != "schedulers" {
		return ""
	}
	if len(parts) == 2 || len(parts) == 4 && parts[3] != "" && (parts[2] == "slots" || parts[2] == "votes") {
		return parts[1]
	}
	return ""
}

// documentOf reads which document a CloudEvent is about, from its headers (binary
// mode) or its body (structured mode); "" if none. By the trigger that is the
// subject, documents/ and the path, or the document, the path alone.
func documentOf(c echo.Context) (string, error) {
	header := c.Request().Header
	var event struct {
		SpecVersion, Type, Subject, Document string // json matches names without regard to case
	}
	if kind, _, err := mime.ParseMediaType(header.Get(echo.HeaderContentType)); err == nil && kind == "application/cloudevents+json" {
		body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxEvent))
		if err != nil {
			return "", fault.Wrap(fault.Invalid, err, "The event did not arrive whole, or is over 8 MiB.")
		}
		if err := json.Unmarshal(body, &event); err != nil {
			return "", fault.Wrap(fault.Invalid, err, "The event is no JSON.")
		}
	} else {
		event.SpecVersion, event.Type = header.Get("Ce-Specversion"), header.Get("Ce-Type")
		event.Subject, event.Document = attribute(header, "Ce-Subject"), attribute(header, "Ce-Document")
	}
	switch {
	case event.SpecVersion == "" || event.Type == "":
		return "", fault.New(fault.Invalid, "This is no CloudEvent. Send one in binary or structured mode.")
	case !strings.HasPrefix(event.Type, "google.cloud.firestore.document.v1."):
		return "", nil
	case event.Document != "":
		return event.Document, nil
	default:
		return strings.TrimPrefix(event.Subject, "documents/"), nil
	}
}

// attribute is an event's attribute in a header, where anything but printable ASCII
// is percent-encoded (CloudEvents, HTTP protocol binding, 3.1.3.2). A value that
// cannot be decoded was not encoded.
func attribute(header http.Header, name string) string {
	value := header.Get(name)
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}
