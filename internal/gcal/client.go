// Package gcal is the only package that knows the Google Calendar client. Each method
// calls for one linked account (a list page by page), reduces the answer to the facts that decisions
// need, and gives every error a kind through one table (errors.go). It never retries,
// remembers or decides: the caller retries, and package rules decides.
package gcal

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	calendar "google.golang.org/api/calendar/v3"
	"google.golang.org/api/option"

	"questscheduler/fault"
)

const (
	// DefaultTimeout bounds one call, including the refresh of an access token.
	DefaultTimeout = 15 * time.Second
	// MaxPageSize is the most events that Google puts on one page.
	MaxPageSize = 2500
)

// Ref names a calendar as one account sees it. Calendar is its real id, or "primary".
type Ref struct {
	Account  string
	Calendar string
}

// Options configure a Client.
type Options struct {
	// Endpoint is the scheme and host that serve /calendar/v3/; "" is Google.
	Endpoint string
	// Client returns an HTTP client that authorises requests as a linked account
	// (accounts.Grants.Client). Its *fault.Error is passed on unchanged.
	Client func(ctx context.Context, account string) (*http.Client, error)
	// Refused, if set, is called when Google refuses the account's grant
	// (accounts.Grants.Refused), so that no more calls are made until its owner links it
	// again. Refusals by Client itself are not reported.
	Refused func(ctx context.Context, account string, client *http.Client) error
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Timeout bounds one call; 0 means DefaultTimeout.
	Timeout time.Duration
	// PageSize is the number of events per page of a listing; 0 means MaxPageSize. It
	// must not change between a listing and those that continue it.
	PageSize int
	// Budget, if set, keeps calls below Google's quotas.
	Budget *Budget
	// Called, if set, is called after each call that reached Google, with the method as
	// Google names it, its error and its duration. Calls that the budget or the account's
	// client held back are not reported.
	Called func(method string, err error, took time.Duration)
}

// Client calls Google Calendar. It is safe for concurrent use, and keeps no state but the
// budget's.
type Client struct {
	options Options
}

// New returns a client. Options.Client is required.
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
	return &Client{options: options}
}

// Within returns a client whose calls take at most a share (above 0, else all) of what the
// budget allows each account and the project, so that others always have the rest. Calls of
// both clients count for the budget. Each call of Within makes a share of its own.
func (c *Client) Within(share float64) *Client {
	options := c.options
	if options.Budget != nil {
		options.Budget = options.Budget.within(share)
	}
	return &Client{options: options}
}

// As returns a client that has another source of HTTP clients, and none of Options.Refused.
// Its calls take their turns with those of c: of the same budget, or the same share of one.
func (c *Client) As(client func(ctx context.Context, account string) (*http.Client, error)) *Client {
	options := c.options
	options.Client, options.Refused = client, nil
	return &Client{options: options}
}

// operation is a method as Google's documentation names it. It appears in errors and
// selects rows of the error table.
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
	opInstances operation = "events.instances"
	opFreeBusy  operation = "freebusy.query"

	opInsertCalendar operation = "calendars.insert"
)

// call makes one call with Google's client; see authorised.
func (c *Client) call(
	ctx context.Context, op operation, account string, do func(ctx context.Context, service *calendar.Service) error,
) error {
	return c.authorised(ctx, op, account, func(ctx context.Context, client *http.Client) error {
		service, err := calendar.NewService(ctx, c.serviceOptions(client)...)
		if err != nil {
			return err
		}
		return do(ctx, service)
	})
}

// authorised makes one call as an account, within the deadline and the budget, and gives
// its error a kind.
func (c *Client) authorised(
	ctx context.Context, op operation, account string, do func(ctx context.Context, client *http.Client) error,
) error {
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
	if keptBack := new(fault.Error); !errors.As(err, &keptBack) {
		c.called(op, classified, took)
	}
	if c.options.Refused == nil || !refusedByGoogle(op, err) {
		return classified
	}
	if markErr := c.options.Refused(ctx, account, client); markErr != nil {
		// Google refuses the next call too, which marks the account then.
		return errors.Join(classified, markErr)
	}
	return classified
}

func (c *Client) called(op operation, err error, took time.Duration) {
	if c.options.Called != nil {
		c.options.Called(string(op), err, took)
	}
}

var errEmptyAnswer = errors.New("the answer holds nothing")

// notNull turns an answer of null, which Google's client returns as nil without an error,
// into an error.
func notNull[T any](answer *T, err error) (*T, error) {
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

const googleBase = "https://www.googleapis.com/calendar/v3/"

func (c *Client) base() string {
	if c.options.Endpoint == "" {
		return googleBase
	}
	return strings.TrimRight(c.options.Endpoint, "/") + "/calendar/v3/"
}
