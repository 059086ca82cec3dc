package gcal

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/api/googleapi"

	"questscheduler/fault"
)

// wholeGuestFields is guestFields with all that Google keeps of a guest.
const wholeGuestFields googleapi.Field = moreFields + ",attendees" + ofGuests

// GuestList is an event with its guests, as PatchGuests needs it.
type GuestList struct {
	// Event is what Get answers.
	Event Event
	// entries are the guests as Google shows them, in its order.
	entries []guestEntry
}

// guestEntry is a guest with every field that Google showed.
type guestEntry struct {
	address string
	raw     jsontext.Value
}

// newGuest is a guest to be added.
type newGuest struct {
	Address  string `json:"email"`
	Response string `json:"responseStatus"`
	Optional bool   `json:"optional,omitzero"`
}

// GuestChange is a change of an event's guests, by address, whatever the case of letters.
type GuestChange struct {
	Add, Remove []string
	// Optional are those of Add who need not come.
	Optional []string
}

// GuestList is Get, and keeps what Google knows of each guest for PatchGuests.
func (c *Client) GuestList(ctx context.Context, ref Ref, id string) (GuestList, error) {
	return c.guestList(ctx, opGet, ref, id, func(ctx context.Context, query url.Values) (*http.Request, error) {
		return c.request(ctx, http.MethodGet, address{ref, "/" + url.PathEscape(id), query}, nil)
	})
}

// PatchGuests replaces an event's guests by those of a list from GuestList, less the
// addresses of change.Remove and with those of change.Add that it lacks.
// The other guests are written back with every field that Google showed. notify is Google's
// sendUpdates: "none", "externalOnly" or "all". If nothing differs it makes no call.
//
// An event that changed since the list was read is left alone: Conflict with CodeStale.
// Invalid: Google cut the list or it cannot be read whole, so that writing it back would
// remove guests. After Unavailable the event may have changed.
func (c *Client) PatchGuests(ctx context.Context, ref Ref, list GuestList, change GuestChange, notify string) (Event, error) {
	shown := list.Event.Details
	if shown == nil || shown.GuestsOmitted || list.Event.Malformed || list.Event.ETag == "" || len(list.entries) != len(shown.Guests) {
		return Event{}, fault.New(fault.Invalid, sayGuestsCut)
	}
	guests, err := list.with(change)
	if err != nil || guests == nil {
		return list.Event, err
	}
	body, err := json.Marshal(map[string][]jsontext.Value{"attendees": guests})
	if err != nil {
		return Event{}, err
	}
	written, err := c.guestList(ctx, opPatch, ref, list.Event.ID, func(ctx context.Context, query url.Values) (*http.Request, error) {
		query.Set("sendUpdates", notify)
		request, err := c.request(ctx, http.MethodPatch, address{ref, "/" + url.PathEscape(list.Event.ID), query}, bytes.NewReader(body))
		if err == nil {
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("If-Match", list.Event.ETag)
		}
		return request, err
	})
	return written.Event, err
}

// with are the guests to write; nil if they are those of the list.
func (l GuestList) with(change GuestChange) ([]jsontext.Value, error) {
	has := func(addresses []string, address string) bool {
		return slices.ContainsFunc(addresses, func(one string) bool { return strings.EqualFold(one, address) })
	}
	var there []string
	guests := []jsontext.Value{} // none left is [], which null is not
	for _, guest := range l.entries {
		if guest.address == "" || !has(change.Remove, guest.address) {
			there, guests = append(there, guest.address), append(guests, guest.raw)
		}
	}
	changed := len(guests) < len(l.entries)
	for _, address := range change.Add {
		if has(there, address) {
			continue
		}
		entry, err := json.Marshal(newGuest{address, "needsAction", has(change.Optional, address)})
		if err != nil {
			return nil, err
		}
		there, guests, changed = append(there, address), append(guests, entry), true
	}
	if !changed {
		return nil, nil
	}
	return guests, nil
}

// guestList makes a call that answers with one event and all fields of its guests.
func (c *Client) guestList(
	ctx context.Context, op operation, ref Ref, id string, ask func(context.Context, url.Values) (*http.Request, error),
) (GuestList, error) {
	var shown *wireEvent
	var list GuestList
	err := c.authorised(ctx, op, ref.Account, func(ctx context.Context, client *http.Client) error {
		request, err := ask(ctx, url.Values{"fields": {string(wholeGuestFields)}})
		if err != nil {
			return err
		}
		return perform(client, request, func(body io.Reader) (err error) {
			shown, list.entries, err = readGuests(body)
			return err
		})
	})
	if err != nil {
		return GuestList{}, err
	}
	if shown.ID == "" { // it may be what cannot be read
		shown.ID = id
	}
	list.Event, err = c.complete(ctx, ref, shown, WithGuests)
	return list, err
}

// readGuests reads an answer about one event, and its guests as they stand there. An event
// whose guests cannot be read has none.
func readGuests(from io.Reader) (*wireEvent, []guestEntry, error) {
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, nil, err
	}
	shown, err := readEvent(bytes.NewReader(body))
	if err != nil || shown.malformed || shown.guestsUnknown {
		return shown, nil, err
	}
	var whole struct {
		Attendees []jsontext.Value `json:"attendees"`
	}
	if err := readable(json.Unmarshal(body, &whole, asEncodingJSON)); err != nil {
		return nil, nil, err
	}
	if len(whole.Attendees) != len(shown.Attendees) {
		return nil, nil, errUnreadable
	}
	entries := make([]guestEntry, len(whole.Attendees))
	for i, raw := range whole.Attendees {
		entries[i] = guestEntry{shown.Attendees[i].Email, raw}
	}
	return shown, entries, nil
}
