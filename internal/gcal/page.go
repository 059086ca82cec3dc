package gcal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"
	"google.golang.org/api/googleapi"
)

// Listings hold up to 2,500 events a page. Google's client decodes them with encoding/json
// into structs of sixty fields, which takes three times as long (docs/decisions.md), so they
// are requested and decoded here.

type listed struct {
	NextPage string     `json:"nextPageToken"`
	NextSync string     `json:"nextSyncToken"`
	Role     string     `json:"accessRole"`
	Zone     string     `json:"timeZone"`
	Items    wireEvents `json:"items"`
}

// wireEvents are the events of a page; nil stands for a null, which is no event.
type wireEvents []*wireEvent

// eventsAtOnce is the most events of a page that are allocated together.
const eventsAtOnce = 64

// UnmarshalJSONFrom reads a list of events as encoding/json does: where the answer has
// several, each is read into the events of the one before.
func (l *wireEvents) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	begin, err := from.ReadToken()
	if err != nil {
		return err
	}
	switch begin.Kind() {
	case '[':
	case 'n':
		*l = nil
		return nil
	default:
		return &json.SemanticError{}
	}
	events := (*l)[:0]
	var shared texts
	var unused []wireEvent
	for from.PeekKind() != ']' {
		events = slices.Grow(events, 1)[:len(events)+1]
		event := &events[len(events)-1]
		if from.PeekKind() == 'n' {
			*event = nil
			if err := from.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if *event == nil {
			if len(unused) == 0 {
				unused = make([]wireEvent, min(len(events), eventsAtOnce))
			}
			*event, unused = &unused[0], unused[1:]
		}
		if err := (*event).read(from, &shared); err != nil {
			return err
		}
	}
	if len(events) == 0 {
		events = wireEvents{} // without those of an earlier list
	}
	*l = events
	_, err = from.ReadToken()
	return err
}

// asEncodingJSON makes the decoder accept what encoding/json accepts, as Google's client
// does.
var asEncodingJSON = json.JoinOptions(
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), legacy.MergeWithLegacySemantics(true),
	json.MatchCaseInsensitiveNames(true), legacy.MatchCaseSensitiveDelimiter(true),
)

// errUnreadable omits the decoder's error, which may quote the answer.
var errUnreadable = errors.New("the answer is not what was asked for")

// readListed reads a page; nil for null.
func readListed(from io.Reader) (*listed, error) {
	var page *listed
	if err := readable(json.UnmarshalRead(from, &page, asEncodingJSON)); err != nil {
		return nil, err
	}
	return page, nil
}

// readable removes what may quote the answer from a decoder's error; other errors are the
// connection's.
func readable(err error) error {
	if broken, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("%w: it breaks at byte %d", errUnreadable, broken.ByteOffset)
	}
	if wrongType(err) {
		return errUnreadable
	}
	return err
}

// address is that of a calendar's events, or of a path below them.
type address struct {
	ref   Ref
	below string
	query url.Values
}

// fetch requests what an address holds and passes the answer to take.
func (c *Client) fetch(ctx context.Context, client *http.Client, at address, take func(body io.Reader) error) error {
	request, err := c.request(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	return perform(client, request, take)
}

func (c *Client) request(ctx context.Context, method string, at address, body io.Reader) (*http.Request, error) {
	at.query.Set("alt", "json")
	at.query.Set("prettyPrint", "false")
	text := c.base() + "calendars/" + url.PathEscape(at.ref.Calendar) + "/events" + at.below + "?" + at.query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, text, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", googleapi.UserAgent)
	return request, nil
}

// perform makes a request and passes what it answers to take.
func perform(client *http.Client, request *http.Request, take func(body io.Reader) error) error {
	answer, err := client.Do(request) //nolint:bodyclose // CloseBody closes it
	if err != nil {
		return err
	}
	defer googleapi.CloseBody(answer)
	if err := googleapi.CheckResponse(answer); err != nil {
		return err
	}
	return take(answer.Body)
}
