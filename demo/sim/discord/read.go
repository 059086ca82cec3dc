package discord

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// Limits of one listing.
const (
	defaultPage = 50
	maxPage     = 100
)

// channel finds the channel of a call, with the permissions that it needs
// beside seeing it. The caller holds the lock.
func (s *Server) channel(r *http.Request, needs ...Permission) (*channel, error) {
	id := r.PathValue("channel")
	if _, ok := parseSnowflake(id); !ok {
		wrong := formErrors{}
		wrong.notSnowflake(id, "channel_id")
		return nil, wrong.problem()
	}
	c, ok := s.world.channels[id]
	if !ok || c.Gone {
		return nil, coded(codeUnknownChannel)
	}
	if !c.allows(ViewChannel) {
		return nil, coded(codeMissingAccess)
	}
	for _, p := range needs {
		if !c.allows(p) {
			return nil, coded(codeMissingPermissions)
		}
	}
	return c, nil
}

// message finds the message of a call and its place in its channel.
func (s *Server) message(r *http.Request, needs ...Permission) (*channel, int, error) {
	c, err := s.channel(r, needs...)
	if err != nil {
		return nil, 0, err
	}
	text := r.PathValue("message")
	id, ok := parseSnowflake(text)
	if !ok {
		wrong := formErrors{}
		wrong.notSnowflake(text, "message_id")
		return nil, 0, wrong.problem()
	}
	i, found := c.find(id)
	if !found {
		return nil, 0, coded(codeUnknownMessage)
	}
	return c, i, nil
}

// getMessage is messages.get.
func (s *Server) getMessage(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, i, err := s.message(r, ReadMessageHistory)
	if err != nil {
		return nil, err
	}
	return c.posted[i].message.public(), nil
}

// listMessages is messages.list: newest first. Without the permission to read
// the history it is empty and no error, as at Discord.
func (s *Server) listMessages(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.channel(r)
	if err != nil {
		return nil, err
	}
	q, err := readPage(r.URL.Query())
	if err != nil {
		return nil, err
	}
	list := []Message{}
	if !c.allows(ReadMessageHistory) {
		return list, nil
	}
	from, to := q.window(c)
	for i := to - 1; i >= from; i-- {
		list = append(list, c.posted[i].message.public())
	}
	return list, nil
}

// page is what a listing asks for; at most one of the ids is set.
type page struct {
	limit                 int
	before, after, around uint64
}

func readPage(query url.Values) (page, error) {
	q, wrong := page{limit: defaultPage}, formErrors{}
	if text := query.Get("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		switch {
		case err != nil:
			wrong.add("NUMBER_TYPE_COERCE", fmt.Sprintf("Value %q is not int.", text), "limit")
		case limit < 1:
			wrong.add("NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.", "limit")
		case limit > maxPage:
			wrong.add("NUMBER_TYPE_MAX", fmt.Sprintf("int value should be less than or equal to %d.", maxPage), "limit")
		}
		q.limit = limit
	}
	given := 0
	for _, bound := range []struct {
		name string
		id   *uint64
	}{{"before", &q.before}, {"after", &q.after}, {"around", &q.around}} {
		text := query.Get(bound.name)
		if text == "" {
			continue
		}
		given++
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			wrong.notSnowflake(text, bound.name)
		}
		*bound.id = id
		if given > 1 {
			wrong.add("MUTUALLY_EXCLUSIVE", "before, after and around cannot be used together.", bound.name)
		}
	}
	return q, wrong.problem()
}

// window gives the places of the messages asked for: the newest, the newest
// before an id, the oldest after one, or those on both sides of one.
func (q page) window(c *channel) (from, to int) {
	n := len(c.posted)
	switch {
	case q.after > 0:
		i, found := c.find(q.after)
		if found {
			i++
		}
		return i, min(i+q.limit, n)
	case q.before > 0:
		i, _ := c.find(q.before)
		return max(i-q.limit, 0), i
	case q.around > 0:
		i, _ := c.find(q.around)
		from = max(i-q.limit/2, 0)
		return from, min(from+q.limit, n)
	}
	return max(n-q.limit, 0), n
}

// getChannel is channels.get.
func (s *Server) getChannel(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.channel(r)
	if err != nil {
		return nil, err
	}
	return c.shown(), nil
}

// shown is the channel as Discord answers it.
func (c *channel) shown() map[string]any {
	var last any
	if n := len(c.posted); n > 0 {
		last = c.posted[n-1].message.ID
	}
	return map[string]any{
		"id": c.ID, "type": 0, "guild_id": c.GuildID, "name": c.Name, "position": 0,
		"permission_overwrites": []any{}, "topic": nil, "nsfw": false, "parent_id": nil,
		"rate_limit_per_user": 0, "last_message_id": last,
	}
}

// getMe is users.get.
func (s *Server) getMe(*http.Request) (any, error) { return bot(), nil }
