// Package gcal is the only place that knows the Google Calendar client. It
// makes one call at a time for one linked account, turns what Google answers
// into the few facts that decisions need, and turns every error into a
// *fault.Error through one table (errors.go).
//
// What it must never do: retry, remember, or decide. A call that failed is
// tried again by the task that made it; what an event means for a poll is
// decided in package rules.
package gcal

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
	calendar "google.golang.org/api/calendar/v3"
	"google.golang.org/api/option"

	"questscheduler/internal/fault"
)

// Limits of a call.
const (
	// DefaultTimeout is how long one call may take, the refresh of an access
	// token included.
	DefaultTimeout = 15 * time.Second
	// MaxPageSize is the most events Google puts on one page of a listing.
	MaxPageSize = 2500
)

// Ref names a calendar as one account sees it. Calendar is the calendar's real
// id, or "primary".
type Ref struct {
	Account  string
	Calendar string
}

// Options are what a Client is made of.
type Options struct {
	// Endpoint is the scheme and host that serve /calendar/v3/; "" is Google.
	// Simulators stand here.
	Endpoint string
	// Client gives an HTTP client that authorises its requests as a linked
	// account (accounts.Grants.Client). Its *fault.Error is passed on as it is.
	Client func(ctx context.Context, account string) (*http.Client, error)
	// Refused, where set, is told that Google refused the grant of the account
	// whose client made the call (accounts.Grants.Refused), so that no further
	// call is made until its owner links it again. It is not told of refusals
	// that Client itself gave.
	Refused func(ctx context.Context, account string, client *http.Client) error
	// Now is the time; nil: time.Now.
	Now func() time.Time
	// Timeout bounds one call; 0: DefaultTimeout.
	Timeout time.Duration
	// PageSize is the number of events on a page of a listing; 0: MaxPageSize.
	// It must not change between a listing and those that continue it.
	PageSize int
	// Budget, where set, holds the calls under Google's quotas.
	Budget *Budget
	// Called, where set, is told of each call that went to Google and came to its
	// end: its method as Google's documentation names it, its error (nil: none) and
	// how long it took. It is not told of what the budget or the account's client
	// did not let out.
	Called func(method string, err error, took time.Duration)
	// SendUpdates says whom Google tells by e-mail of what we write, where the
	// call does not say itself; "": SendToAll.
	SendUpdates SendUpdates
}

// SendUpdates says whom Google tells by e-mail of a change that we make.
type SendUpdates string

// The audiences of Google's own e-mails.
const (
	SendToAll      SendUpdates = "all"
	SendToExternal SendUpdates = "externalOnly"
	SendToNobody   SendUpdates = "none"
)

// Client makes calls to Google Calendar. It is safe for concurrent use and
// holds no state between calls but the budget's.
type Client struct {
	options Options
}

// New makes a client. Options.Client is required.
func New(options Options) *Client {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Timeout <= 0 {
		options.Timeout = DefaultTimeout
	}
	if options.PageSize <= 0 || options.PageSize > MaxPageSize {
		options.PageSize = MaxPageSize
	}
	if options.SendUpdates == "" {
		options.SendUpdates = SendToAll
	}
	return &Client{options: options}
}

// operation names a call as Google's documentation does. It stands in errors
// and chooses rows of the error table.
type operation string

const (
	opInsert    operation = "events.insert"
	opGet       operation = "events.get"
	opList      operation = "events.list"
	opPatch     operation = "events.patch"
	opDelete    operation = "events.delete"
	opWatch     operation = "events.watch"
	opStop      operation = "channels.stop"
	opCalendars operation = "calendarList.list"
	opToken     operation = "token" // the refresh of an access token
)

// call makes one call with Google's client; see authorised.
func (c *Client) call(ctx context.Context, op operation, account string, do func(ctx context.Context, service *calendar.Service) error) error {
	return c.authorised(ctx, op, account, func(ctx context.Context, client *http.Client) error {
		service, err := calendar.NewService(ctx, c.serviceOptions(client)...)
		if err != nil {
			return err
		}
		return do(ctx, service)
	})
}

// authorised makes one call as an account, under the deadline, where the account
// and the budget allow it, and gives its error a kind.
func (c *Client) authorised(ctx context.Context, op operation, account string, do func(ctx context.Context, client *http.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	client, err := c.options.Client(ctx, account)
	if err == nil && c.options.Budget != nil {
		err = c.options.Budget.take(ctx, account)
	}
	if err != nil {
		return c.classify(op, err)
	}
	began := c.options.Now()
	err = do(ctx, client)
	took := c.options.Now().Sub(began)
	if err == nil {
		c.called(op, nil, took)
		return nil
	}
	classified := c.classify(op, err)
	if !keptBack(err) {
		c.called(op, classified, took)
	}
	if c.options.Refused == nil || !refusedByGoogle(op, err) {
		return classified
	}
	if markErr := c.options.Refused(ctx, account, client); markErr != nil {
		// The call stays refused; the next one is refused by Google again and
		// marks the account then.
		return errors.Join(classified, markErr)
	}
	return classified
}

func (c *Client) called(op operation, err error, took time.Duration) {
	if c.options.Called != nil {
		c.options.Called(string(op), err, took)
	}
}

// keptBack tells whether a call did not go to Google, by the error of whoever
// was to send it: the account's client found its grant dead or could not refresh
// the access token, which it counts itself, or the call made no sense. What
// Google or the network says is never such an error.
func keptBack(err error) bool {
	own, refresh := new(fault.Error), new(oauth2.RetrieveError)
	return errors.As(err, &own) || errors.As(err, &refresh)
}

var errEmptyAnswer = errors.New("the answer holds nothing")

// given makes an error of an answer that is the word null, which Google's
// client gives as nil and without an error.
func given[T any](answer *T, err error) (*T, error) {
	if err == nil && answer == nil {
		return nil, errEmptyAnswer
	}
	return answer, err
}

func (c *Client) serviceOptions(client *http.Client) []option.ClientOption {
	options := []option.ClientOption{option.WithHTTPClient(client)}
	if c.options.Endpoint != "" {
		options = append(options, option.WithEndpoint(c.base()))
	}
	return options
}

// googleBase is where Google serves the Calendar API.
const googleBase = "https://www.googleapis.com/calendar/v3/"

// base is where the Calendar API is served.
func (c *Client) base() string {
	if c.options.Endpoint == "" {
		return googleBase
	}
	return strings.TrimRight(c.options.Endpoint, "/") + "/calendar/v3/"
}

// audience is what a call says of e-mails, or the client's own setting.
func (c *Client) audience(chosen SendUpdates) string {
	if chosen == "" {
		chosen = c.options.SendUpdates
	}
	return string(chosen)
}
