package mappings

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"google.golang.org/api/option"
	"google.golang.org/api/sheets/v4"

	"questscheduler/fault"
)

const (
	// Tab is the tab of the spreadsheet that has the mappings; sheetRange are its columns
	// below the header.
	Tab        = "User Mappings"
	sheetRange = "'" + Tab + "'!A2:C"

	// sheetTimeout bounds one reading, with the access token that it may need.
	sheetTimeout = 30 * time.Second
	// maxSource is the most bytes that are read of a spreadsheet or a file.
	maxSource = 8 << 20
)

// Sheet reads the mappings from a Google Sheet, in one call.
type Sheet struct {
	// ID is that of the spreadsheet, as in its address.
	ID string
	// Client gives an HTTP client that authorises requests with a scope that reads
	// spreadsheets. Its *fault.Error is passed on.
	Client func(ctx context.Context) (*http.Client, error)
	// Endpoint is the scheme and host that serve /v4/; "" is Google.
	Endpoint string
	// Now gives the time, for a Retry-After that is a date; nil means time.Now.
	Now func() time.Time
}

// String implements Source.
func (s Sheet) String() string { return fmt.Sprintf("Google Sheet %s, tab %q", s.ID, Tab) }

// Rows implements Source. Its errors are Invalid (no such tab, no Google Sheet), NotFound
// (no such spreadsheet), Forbidden (no access), Revoked, RateLimited with Google's
// Retry-After, Unavailable, TooLarge (beyond 8 MiB) and Provider; or those of Client.
func (s Sheet) Rows(ctx context.Context) ([][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, sheetTimeout)
	defer cancel()
	client, err := s.Client(ctx)
	if err != nil {
		return nil, s.failed(err)
	}
	bounded := *client
	bounded.Transport = boundedTransport{base: client.Transport}
	options := []option.ClientOption{option.WithHTTPClient(&bounded)}
	if s.Endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimRight(s.Endpoint, "/")+"/"))
	}
	service, err := sheets.NewService(ctx, options...)
	if err != nil {
		return nil, s.failed(err)
	}
	values, err := service.Spreadsheets.Values.Get(s.ID, sheetRange).Fields("values").Context(ctx).Do()
	if err != nil {
		return nil, s.failed(err)
	}
	if values == nil { // an answer of null
		return nil, s.failed(errors.New("the answer holds nothing"))
	}
	return textsOf(values.Values), nil
}

// textsOf are cells as texts; Google gives all of them as it shows them.
func textsOf(values [][]any) [][]string {
	rows := make([][]string, len(values))
	for i, cells := range values {
		if len(cells) == 0 {
			continue
		}
		rows[i] = make([]string, len(cells))
		for j, cell := range cells {
			switch value := cell.(type) {
			case nil:
			case string:
				rows[i][j] = value
			default:
				rows[i][j] = fmt.Sprint(value)
			}
		}
	}
	return rows
}

// boundedTransport fails the reading of an answer beyond maxSource with
// *http.MaxBytesError.
type boundedTransport struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b boundedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	base := b.base
	if base == nil {
		base = http.DefaultTransport
	}
	response, err := base.RoundTrip(request)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxSource)
	}
	return response, err
}

var errTooLarge = fault.Newf(fault.TooLarge, "The mappings are larger than %d MiB; remove the rows that are not needed.", maxSource>>20)
