package google

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// channel is a watch channel: an address that receives a push for each change of a
// calendar's events. It is kept after its end, so that its id stays taken.
type channel struct {
	ID         string    `json:"id"`
	User       string    `json:"user"`
	Calendar   string    `json:"calendar"`
	Address    string    `json:"address"`
	Token      string    `json:"token,omitempty"`
	Expiration time.Time `json:"expiration"`
	// Grant is the refresh token of the grant that made it: it can be stopped
	// by the same client alone, and not once the grant is revoked.
	Grant     string    `json:"grant,omitempty"`
	Stopped   bool      `json:"stopped,omitempty"`
	StoppedAt time.Time `json:"stopped_at,omitzero"`
	// LastNumber is the number of the channel's last push.
	LastNumber int64 `json:"last_number,omitempty"`
}

// liveAt says whether the channel can be stopped.
func (ch *channel) liveAt(now time.Time) bool { return !ch.Stopped && now.Before(ch.Expiration) }

// pushesAt says whether a change at this time is pushed: a stopped channel may
// go on for a while.
func (ch *channel) pushesAt(now time.Time, grace time.Duration) bool {
	return now.Before(ch.Expiration) && (!ch.Stopped || now.Before(ch.StoppedAt.Add(grace)))
}

// resourceID is the same for every channel of a calendar, for all users.
func (ch *channel) resourceID() string { return digest("resource " + ch.Calendar) }

func (ch *channel) resourceURI() string {
	return "https://www.googleapis.com/calendar/v3/calendars/" + url.PathEscape(ch.Calendar) + "/events?alt=json"
}

func (ch *channel) millis() string { return strconv.FormatInt(ch.Expiration.UnixMilli(), 10) }

// OpenChannels are the ids of the watch channels that are open now, sorted:
// Google has no call that lists them.
func (s *Server) OpenChannels() (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for _, id := range slices.Sorted(maps.Keys(s.world.channels)) {
		if s.world.channels[id].liveAt(now) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Stoppable reports whether Google would stop a watch channel for any user: it is
// open, and the grant that it was made with was not revoked since.
func (s *Server) Stoppable(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.world.channels[id]
	if ch == nil || !ch.liveAt(s.clock.Now()) {
		return false
	}
	made := s.world.grants[ch.Grant]
	return made == nil || !made.Revoked
}

// channelRequest is the Channel of a request, as far as it is read.
type channelRequest struct {
	ID         string            `json:"id"`
	Type       string            `json:"type"`
	Address    string            `json:"address"`
	Token      string            `json:"token"`
	ResourceID string            `json:"resourceId"`
	Expiration json.Number       `json:"expiration"` // milliseconds, as a string or a number
	Params     map[string]string `json:"params"`
}

func readChannel(r *http.Request) (*channelRequest, error) {
	text, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var req channelRequest
	if err := json.Unmarshal(text, &req); err != nil {
		return nil, newError(http.StatusBadRequest, "parseError", "Parse Error")
	}
	return &req, nil
}

const (
	maxChannelID    = 64
	maxChannelToken = 256
	defaultTTL      = 604800 * time.Second
)

var validChannelID = regexp.MustCompile(`^[A-Za-z0-9\-_+/=]+$`)

func (req *channelRequest) check() error {
	switch {
	case req.ID == "":
		return required("Channel id must be given.")
	case len(req.ID) > maxChannelID || !validChannelID.MatchString(req.ID):
		return invalid("Channel id must be at most %d characters of [A-Za-z0-9-_+/=].", maxChannelID)
	case req.Type != "web_hook" && req.Type != "webhook":
		return newError(http.StatusBadRequest, "channelUnknown", "Unknown channel type: use web_hook.")
	case len(req.Token) > maxChannelToken:
		return invalid("Channel token must be at most %d characters.", maxChannelToken)
	}
	return checkAddress(req.Address)
}

// checkAddress demands HTTPS, as Google does, but lets loopback pass: that is
// where a demo listens.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return newError(http.StatusBadRequest, "push.webhookUrlNotHttps", "WebHook callback must be an HTTPS address.")
	}
	if u.Scheme == "https" || u.Scheme == "http" && isLoopback(u) {
		return nil
	}
	return newError(http.StatusBadRequest, "push.webhookUrlNotHttps", "WebHook callback must be HTTPS.")
}

// expiration is what is granted: what was asked for, at most the longest.
func (req *channelRequest) expiration(now time.Time, longest time.Duration) (time.Time, error) {
	until := now.Add(min(defaultTTL, longest))
	if text, ok := req.Params["ttl"]; ok {
		seconds, err := strconv.ParseInt(text, 10, 32)
		if err != nil || seconds < 1 {
			return until, invalid("Invalid value for: params.ttl")
		}
		until = now.Add(time.Duration(seconds) * time.Second)
	}
	if text := req.Expiration.String(); text != "" && text != "0" {
		millis, err := req.Expiration.Int64()
		if err != nil {
			return until, invalid("Invalid value for: expiration")
		}
		until = time.UnixMilli(millis)
	}
	if !until.After(now) {
		return until, invalid("Channel expiration must lie in the future.")
	}
	if latest := now.Add(longest); until.After(latest) {
		until = latest
	}
	return until.UTC().Truncate(time.Millisecond), nil
}

// watchEvents opens a channel; its first push is the sync message.
func (s *Server) watchEvents(c *call) (answer, error) {
	req, err := readChannel(c.r)
	if err != nil {
		return answer{}, err
	}
	if err := req.check(); err != nil {
		return answer{}, err
	}
	var ch *channel
	err = s.change(func(change *change) error {
		cal, _, err := change.world.calendarFor(c)
		if err != nil {
			return err
		}
		if cal.NoPush {
			return newError(http.StatusBadRequest, "pushNotSupportedForRequestedResource",
				"Push notifications are not supported by this resource.")
		}
		if change.world.channels[req.ID] != nil {
			return newError(http.StatusBadRequest, "channelIdNotUnique", "Channel id not unique")
		}
		until, err := req.expiration(change.now, s.longestGrant())
		if err != nil {
			return err
		}
		ch = &channel{ID: req.ID, User: c.user.Key, Calendar: cal.ID, Grant: c.grant.Refresh,
			Address: req.Address, Token: req.Token, Expiration: until}
		change.record.Channels = append(change.record.Channels, ch)
		change.push(ch, "sync")
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	body := object{{"kind", "api#channel"}, {"id", ch.ID}, {"resourceId", ch.resourceID()}, {"resourceUri", ch.resourceURI()}}
	if ch.Token != "" {
		body = append(body, field{"token", ch.Token})
	}
	body = append(body, field{"expiration", ch.millis()})
	body, err = c.mask.apply(body)
	return answer{status: http.StatusOK, body: body}, err
}

// stopChannel ends a channel that the caller made through the same client.
// What was on its way is still delivered, and for a while what changes
// afterwards (Options.StopGrace, ChannelRules).
func (s *Server) stopChannel(c *call) (answer, error) {
	req, err := readChannel(c.r)
	if err != nil {
		return answer{}, err
	}
	err = s.change(func(change *change) error {
		ch := change.world.channels[req.ID]
		if ch == nil || !ch.liveAt(change.now) || ch.resourceID() != req.ResourceID || !change.world.mayStop(c, ch) {
			return newError(http.StatusNotFound, "notFound", "Channel '"+req.ID+"' not found for project")
		}
		stopped := *ch
		stopped.Stopped, stopped.StoppedAt = true, change.now.UTC()
		change.record.Channels = append(change.record.Channels, &stopped)
		return nil
	})
	return answer{status: http.StatusNoContent}, err
}

// mayStop says whether a channel is the caller's: made by the same person and
// client, with a grant that was not revoked since.
func (w *world) mayStop(c *call, ch *channel) bool {
	made := w.grants[ch.Grant]
	return ch.User == c.user.Key && (made == nil || made.Client == c.grant.Client && !made.Revoked)
}
