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

	"questscheduler/internal/fault"
)

// Documents is where it goes that a poll's document was written (hints.Hints).
// After nil the poll is looked at later than the call.
type Documents interface {
	Changed(ctx context.Context, pollID, trace string) error
}

// PathDocuments is where Eventarc tells of documents.
const PathDocuments = "/webhooks/documents"

// maxEvent is the longest event that is read: a document may have 1 MiB, and an
// event holds it before and after.
const maxEvent = 8 << 20

// RegisterDocuments adds the route of Eventarc's events to e, for the machines
// that may call alone. What an event says of a document is not believed: it is a
// hint to look at that poll. 202: the poll is looked at; 204: the event is about
// something else; 400: it is no event; 503: send it again.
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
		if err := documents.Changed(c.Request().Context(), id, c.Response().Header().Get(echo.HeaderXRequestID)); err != nil {
			return &fault.Error{Kind: fault.Unavailable, Message: "The event could not be handed over. Send it again.", RetryAfter: retryPush, Err: err}
		}
		return c.NoContent(http.StatusAccepted)
	}, OnlyMachines(machines))
}

// pollOf is the poll that a document is, or whose slot or vote it is, which the
// poll's card shows; "" for any other.
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

// event are those attributes of a CloudEvent that say which document it is about.
type event struct {
	SpecVersion string `json:"specversion"`
	Type        string `json:"type"`
	// Subject is documents/ and the document's path, Document the path alone;
	// which of the two comes depends on the trigger.
	Subject  string `json:"subject"`
	Document string `json:"document"`
}

// firestoreEvents begins the types of all events about documents.
const firestoreEvents = "google.cloud.firestore.document.v1."

// documentOf reads which document an event is about, from its headers (binary
// mode) or its body (structured mode); "" where it is about none.
func documentOf(c echo.Context) (string, error) {
	header := c.Request().Header
	told := event{
		SpecVersion: header.Get("Ce-Specversion"), Type: header.Get("Ce-Type"),
		Subject: attribute(header, "Ce-Subject"), Document: attribute(header, "Ce-Document"),
	}
	if kind, _, err := mime.ParseMediaType(header.Get(echo.HeaderContentType)); err == nil && kind == "application/cloudevents+json" {
		body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxEvent))
		if err != nil {
			return "", fault.Wrap(fault.Invalid, err, "The event did not arrive whole, or is over 8 MiB.")
		}
		told = event{}
		if err := json.Unmarshal(body, &told); err != nil {
			return "", fault.Wrap(fault.Invalid, err, "The event is no JSON.")
		}
	}
	if told.SpecVersion == "" || told.Type == "" {
		return "", fault.New(fault.Invalid, "This is no CloudEvent. Send one in binary or structured mode.")
	}
	if !strings.HasPrefix(told.Type, firestoreEvents) {
		return "", nil
	}
	if told.Document != "" {
		return told.Document, nil
	}
	return strings.TrimPrefix(told.Subject, "documents/"), nil
}

// attribute is what a header says of an event. What is no printable ASCII comes
// percent-encoded there (CloudEvents, HTTP protocol binding, 3.1.3.2); what cannot
// be decoded was not encoded.
func attribute(header http.Header, name string) string {
	value := header.Get(name)
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}
