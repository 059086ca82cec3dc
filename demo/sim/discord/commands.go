package discord

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of commands, in characters and pieces.
const (
	maxCommands           = 100
	maxCommandName        = 32
	maxCommandDescription = 100
	maxCommandOptions     = 25
	maxCommandTexts       = 8000 // all names, descriptions and values of a command together
)

// command is a slash command as Discord answers it.
type command struct {
	ID            string `json:"id"`
	ApplicationID string `json:"application_id"`
	GuildID       string `json:"guild_id,omitempty"`
	Version       string `json:"version"`
	Type          int    `json:"type"`
	commandOption
	Permissions  *string         `json:"default_member_permissions"`
	Contexts     json.RawMessage `json:"contexts,omitempty"`
	Integrations json.RawMessage `json:"integration_types,omitempty"`
	NSFW         bool            `json:"nsfw"`
}

// commandOption is what a command and its options have in common.
type commandOption struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Options     []json.RawMessage `json:"options,omitempty"`
	Choices     []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"choices,omitempty"`
}

// commandList is every command of a guild, or of all guilds where it names none.
type commandList struct {
	GuildID  string    `json:"guild_id,omitempty"`
	Commands []command `json:"commands"`
}

func commandRoutes(path string) []route {
	return []route{
		{verb: http.MethodGet, path: path, name: "commands.list", handle: (*Server).listCommands},
		{verb: http.MethodPost, path: path, name: "commands.upsert", handle: (*Server).upsertCommand},
		{verb: http.MethodPut, path: path, name: "commands.put", handle: (*Server).putCommands},
		{verb: http.MethodDelete, path: path + "/{command}", name: "commands.delete", handle: (*Server).deleteCommand},
	}
}

func (w *world) putCommands(list commandList) {
	for _, c := range list.Commands {
		w.use(c.Version)
	}
	w.commands[list.GuildID] = list.Commands
}

// command finds a command that people of a guild can choose.
func (w *world) command(guildID, name string) (command, bool) {
	both := slices.Concat(w.commands[guildID], w.commands[""])
	i := slices.IndexFunc(both, func(c command) bool { return c.Name == name })
	if i < 0 {
		return command{}, false
	}
	return both[i], true
}

// commandScope gives the commands that a call is about. The caller holds the lock.
func (s *Server) commandScope(r *http.Request) (commandList, error) {
	guild := r.PathValue("guild")
	if r.PathValue("application") != BotID {
		return commandList{}, coded(codeUnknownApplication)
	}
	if _, known := s.world.guilds[guild]; guild != "" && !known {
		return commandList{}, coded(codeMissingAccess)
	}
	return commandList{guild, slices.Clone(s.world.commands[guild])}, nil
}

// listCommands is commands.list, in the order in which they were registered.
func (s *Server) listCommands(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.commandScope(r)
	if err != nil {
		return nil, err
	}
	return append([]command{}, list.Commands...), nil
}

// upsertCommand is commands.upsert: one with that name is replaced and keeps its id.
func (s *Server) upsertCommand(r *http.Request) (any, error) {
	var c command
	if err := readBody(r, &c); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.commandScope(r)
	if err != nil {
		return nil, err
	}
	wrong := formErrors{}
	c.check(list.GuildID, wrong)
	if err := wrong.problem(); err != nil {
		return nil, err
	}
	i := list.find(c.Name)
	if i < 0 && len(list.Commands) == maxCommands {
		return nil, coded(codeTooManyCommands)
	}
	c = list.complete(c, s.newID(s.clock.Now()))
	if i >= 0 {
		list.Commands[i] = c
		return c, s.commit(record{Commands: &list})
	}
	list.Commands = append(list.Commands, c)
	return created{c}, s.commit(record{Commands: &list})
}

// putCommands is commands.put: what the body does not name is gone.
func (s *Server) putCommands(r *http.Request) (any, error) {
	var all []command
	if err := readBody(r, &all); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.commandScope(r)
	if err != nil {
		return nil, err
	}
	if len(all) > maxCommands {
		return nil, coded(codeTooManyCommands)
	}
	wrong, next := formErrors{}, commandList{list.GuildID, []command{}}
	id, _ := parseSnowflake(s.newID(s.clock.Now()))
	for i, c := range all {
		c.check(list.GuildID, wrong, index(i))
		if next.find(c.Name) >= 0 {
			wrong.add("APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique", index(i), "name")
		}
		next.Commands = append(next.Commands, list.complete(c, formatSnowflake(id+uint64(i))))
	}
	if err := wrong.problem(); err != nil {
		return nil, err
	}
	return next.Commands, s.commit(record{Commands: &next})
}

// deleteCommand is commands.delete.
func (s *Server) deleteCommand(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.commandScope(r)
	if err != nil {
		return nil, err
	}
	before := len(list.Commands)
	list.Commands = slices.DeleteFunc(list.Commands, func(c command) bool { return c.ID == r.PathValue("command") })
	if len(list.Commands) == before {
		return nil, coded(codeUnknownCommand)
	}
	return nil, s.commit(record{Commands: &list})
}

func (l commandList) find(name string) int {
	return slices.IndexFunc(l.Commands, func(c command) bool { return c.Name == name })
}

// complete adds what Discord adds. The id is new, or that of the command of that name;
// the version is new in any case.
func (l commandList) complete(c command, id string) command {
	c.ID, c.ApplicationID, c.GuildID, c.Version, c.Type = id, BotID, l.GuildID, id, 1
	if i := l.find(c.Name); i >= 0 {
		c.ID = l.Commands[i].ID
	}
	return c
}

// commandName is Discord's pattern; that names are in lower case is checked apart.
var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}]*$`)

// check adds an error for every limit that is exceeded.
func (c command) check(guildID string, wrong formErrors, path ...string) {
	if c.Type > 1 {
		wrong.choices("1", below(path, "type")...)
	}
	if guildID != "" && c.Contexts != nil {
		wrong.add("APPLICATION_COMMAND_CONTEXTS_GUILD", "Contexts are not allowed on guild commands", below(path, "contexts")...)
	}
	if c.commandOption.check(wrong, path) > maxCommandTexts {
		wrong.add("APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)", below(path, "name")...)
	}
}

// check gives the size of all texts in it.
func (o commandOption) check(wrong formErrors, path []string) int {
	size := utf8.RuneCountInString(o.Name) + utf8.RuneCountInString(o.Description)
	wrong.text(o.Name, 1, maxCommandName, below(path, "name")...)
	wrong.text(o.Description, 1, maxCommandDescription, below(path, "description")...)
	if !commandName.MatchString(o.Name) || strings.ToLower(o.Name) != o.Name {
		wrong.add("APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid", below(path, "name")...)
	}
	wrong.between(len(o.Options), 0, maxCommandOptions, below(path, "options")...)
	wrong.between(len(o.Choices), 0, maxCommandOptions, below(path, "choices")...)
	for i, choice := range o.Choices {
		size += utf8.RuneCountInString(choice.Name) + utf8.RuneCount(choice.Value)
		wrong.text(choice.Name, 1, 100, below(path, "choices", index(i), "name")...)
	}
	for i, raw := range o.Options {
		var inner commandOption
		if json.Unmarshal(raw, &inner) != nil {
			wrong.add("MODEL_TYPE_CONVERT", "An option has a value of the wrong type.", below(path, "options", index(i))...)
			continue
		}
		size += inner.check(wrong, below(path, "options", index(i)))
	}
	return size
}
