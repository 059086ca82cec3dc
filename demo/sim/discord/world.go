package discord

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// world is everything that outlives the process. It changes through apply
// alone, so that reading the journal again gives the same world.
type world struct {
	guilds   map[string]Guild
	channels map[string]*channel
	nonces   map[string]nonceUse
	application
	commands     map[string][]command // by guild; "" are those of every guild
	members      map[memberKey]member
	interactions map[string]interaction // by token
	ephemerals   map[string][]Message   // by user, oldest first
	lastID       uint64
	offset       time.Duration // of the simulator's own clock
}

// channel is a channel with its messages, by growing id.
type channel struct {
	Channel
	posted []posted
}

type posted struct {
	id      uint64
	message Message
}

// nonceUse is the newest message that was posted with a nonce; it may have
// been deleted since.
type nonceUse struct {
	channelID string
	id        uint64
	at        time.Time
}

// record is one change, and one line of the journal: exactly one of its fields
// is set.
type record struct {
	Guild       *Guild         `json:"guild,omitempty"`
	Channel     *Channel       `json:"channel,omitempty"`
	Message     *Message       `json:"message,omitempty"` // new, or as it is after an edit
	Deleted     *deletion      `json:"deleted,omitempty"`
	Application *application   `json:"application,omitempty"`
	Commands    *commandList   `json:"commands,omitempty"`
	Member      *member        `json:"member,omitempty"`
	Interaction *interaction   `json:"interaction,omitempty"`
	Ephemeral   *ephemeral     `json:"ephemeral,omitempty"`
	Offset      *time.Duration `json:"clock_offset_ns,omitempty"`
}

type deletion struct {
	ChannelID string `json:"channel_id"`
	ID        string `json:"id"`
}

func newWorld() world {
	return world{
		guilds: map[string]Guild{}, channels: map[string]*channel{}, nonces: map[string]nonceUse{},
		commands: map[string][]command{}, members: map[memberKey]member{}, interactions: map[string]interaction{},
		ephemerals: map[string][]Message{},
	}
}

// errStray is a record about a channel or message that no record made.
var errStray = errors.New("the record names a channel or message that is not there")

// apply makes a record true. Records that the server itself made never fail.
func (w *world) apply(r record) error {
	switch {
	case r.Guild != nil:
		w.guilds[r.Guild.ID] = *r.Guild
	case r.Channel != nil:
		if c, ok := w.channels[r.Channel.ID]; ok {
			c.Channel = *r.Channel
			return nil
		}
		w.channels[r.Channel.ID] = &channel{Channel: *r.Channel}
	case r.Message != nil:
		return w.put(*r.Message)
	case r.Deleted != nil:
		return w.remove(*r.Deleted)
	case r.Application != nil:
		w.application = *r.Application
	case r.Commands != nil:
		w.putCommands(*r.Commands)
	case r.Member != nil:
		w.members[memberKey{r.Member.User, r.Member.GuildID}] = *r.Member
	case r.Interaction != nil:
		w.use(r.Interaction.ID)
		w.interactions[r.Interaction.Token] = *r.Interaction
	case r.Ephemeral != nil:
		w.putEphemeral(*r.Ephemeral)
	case r.Offset != nil:
		w.offset = *r.Offset
	}
	return nil
}

func (w *world) put(m Message) error {
	c, ok := w.channels[m.ChannelID]
	id, isID := parseSnowflake(m.ID)
	if !ok || !isID {
		return errStray
	}
	w.use(m.ID)
	if nonce := nonceText(m.Nonce); nonce != "" && w.nonces[nonce].id < id {
		w.nonces[nonce] = nonceUse{m.ChannelID, id, m.Timestamp.Time}
	}
	i, found := c.find(id)
	if found {
		c.posted[i].message = m
		return nil
	}
	c.posted = slices.Insert(c.posted, i, posted{id, m})
	return nil
}

// use makes every later id a greater one.
func (w *world) use(id string) {
	number, _ := parseSnowflake(id)
	w.lastID = max(w.lastID, number)
}

// remove takes a message away; its nonce stays taken.
func (w *world) remove(d deletion) error {
	c, ok := w.channels[d.ChannelID]
	id, isID := parseSnowflake(d.ID)
	if !ok || !isID {
		return errStray
	}
	i, found := c.find(id)
	if !found {
		return errStray
	}
	c.posted = slices.Delete(c.posted, i, i+1)
	return nil
}

// find gives the place of a message, or where it would stand.
func (c *channel) find(id uint64) (int, bool) {
	return slices.BinarySearchFunc(c.posted, id, func(p posted, id uint64) int { return cmp.Compare(p.id, id) })
}

func (w *world) messages(channelID string) []Message {
	c, ok := w.channels[channelID]
	if !ok {
		return nil
	}
	list := make([]Message, 0, len(c.posted))
	for _, p := range c.posted {
		list = append(list, p.message)
	}
	return list
}
