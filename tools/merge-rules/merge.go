package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// pieces connect the app's rules with ours. mayRead, takesPart, list and map are ours.
const pieces = `
    // ---- between the app's rules and ours ------------------------------------

    function canReadScheduler(poll) { return poll != null && mayRead(poll); }

    function canVoteScheduler(poll) { return poll != null && signedIn() && takesPart(poll); }

    // No client sets a group's channel, only the server invites people to a group, and nobody
    // makes a member of somebody else.
    function keepsChannel(before) {
      return list(before, 'memberIds').concat([me()]).hasAll(list(request.resource.data, 'memberIds'))
        && request.resource.data.creatorId == before.get('creatorId', me())
        && map(request.resource.data, 'discord').diff(map(before, 'discord')).affectedKeys()
        .hasOnly(['notifyRoleId', 'notifications'])
        && list(before, 'pendingMemberIds').hasAll(list(request.resource.data, 'pendingMemberIds'));
    }

    // The server finds what a person voted in by voterId.
    function votesAsOneself() { return request.resource.data.get('voterId', me()) == me(); }
`

// replaced are functions of the app in whose place the pieces come.
var replaced = []string{"canReadScheduler", "canVoteScheduler"}

// guarded are functions of ours that stand before conditions of the app.
var guarded = []string{"keepsChannel", "votesAsOneself"}

// edit replaces a part of a text.
type edit struct {
	start, end int
	by         string
}

// merging is the app's file while its edits are collected.
type merging struct {
	text  string
	ours  string
	names []string // of the functions that stay
	edits []edit
}

// merge returns the app's rules with ours in them.
func merge(ours, apps string) (string, error) {
	_, mine, err := documents(ours)
	if err != nil {
		return "", fmt.Errorf("our rules: %w", err)
	}
	all, theirs, err := documents(apps)
	if err != nil {
		return "", err
	}
	m := &merging{text: apps, ours: ours}
	if err := m.functions(all); err != nil {
		return "", err
	}
	if err := m.matches(theirs.inside, nil); err != nil {
		return "", err
	}
	end := strings.TrimRight(apps[:theirs.body[1]], " \t\n")
	body := renamed(pieces+ours[mine.body[0]:mine.body[1]], m.names)
	m.edits = append(m.edits, edit{len(end), theirs.body[1], "\n" + body})
	return m.apply(), nil
}

// documents finds the block that all rules of a database are in.
func documents(text string) (all []*statement, block *statement, err error) {
	all, err = parse(text)
	if err != nil {
		return nil, nil, err
	}
	for _, service := range all {
		for _, s := range service.inside {
			if s.kind == "match" && strings.HasSuffix(s.name, "/documents") {
				if block != nil {
					return nil, nil, errors.New("it has two blocks of documents; make one of them")
				}
				block = s
			}
		}
	}
	if block == nil {
		return nil, nil, errors.New("it has no block such as match /databases/{database}/documents")
	}
	return all, block, nil
}

// functions removes the app's functions that the pieces replace, wherever they are, and keeps
// the names of the others.
func (m *merging) functions(all []*statement) error {
	for _, s := range all {
		switch {
		case s.kind != "function":
			if err := m.functions(s.inside); err != nil {
				return err
			}
		case slices.Contains(guarded, s.name):
			return fmt.Errorf("it has our function %s already; begin with the app's own file", s.name)
		case slices.Contains(replaced, s.name):
			m.remove(s)
		default:
			m.names = append(m.names, s.name)
		}
	}
	return nil
}

// matches edits the app's rules for the documents of a path.
func (m *merging) matches(all []*statement, above []string) error {
	for _, s := range all {
		if s.kind != "match" {
			continue
		}
		path := append(slices.Clone(above), collections(s.name)...)
		within := strings.Join(path, "/")
		switch {
		case strings.Contains(s.name, "=**}"):
			if err := m.everything(s); err != nil {
				return err
			}
		case within == "schedulers/basicPolls" || strings.HasPrefix(within, "schedulers/basicPolls/"):
			m.guard(s, within)
			if err := m.matches(s.inside, path); err != nil {
				return err
			}
		case within == "schedulers":
			m.polls(s)
			if err := m.matches(embedded(s), path); err != nil {
				return err
			}
		case strings.HasPrefix(within, "schedulers/"), within == "users/notifications":
			m.remove(s)
		default:
			m.guard(s, within)
			if err := m.matches(s.inside, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// collections are the names of a match's path without its placeholders.
func collections(path string) (names []string) {
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if !strings.HasPrefix(part, "{") {
			names = append(names, part)
		}
	}
	return names
}

// embedded are the blocks of a poll's embedded polls.
func embedded(poll *statement) []*statement {
	return slices.DeleteFunc(slices.Clone(poll.inside), func(s *statement) bool {
		return s.kind != "match" || collections(s.name)[0] != "basicPolls"
	})
}

// polls removes from a poll's block all but its functions and its embedded polls.
func (m *merging) polls(s *statement) {
	kept := embedded(s)
	for _, inner := range s.inside {
		if inner.kind != "function" && !slices.Contains(kept, inner) {
			m.remove(inner)
		}
	}
}

// everything refuses a rule for a path of any length that allows something, unless it begins
// with a collection that our rules do not know: it would bypass them.
func (m *merging) everything(s *statement) error {
	first, _, _ := strings.Cut(strings.TrimPrefix(s.name, "/"), "/")
	if !strings.HasPrefix(first, "{") && !strings.Contains(m.ours, "match /"+first+"/") {
		return nil
	}
	for _, inner := range s.inside {
		if inner.kind == "allow" && inner.condition != "false" {
			return fmt.Errorf("line %d: a match of %s allows something that our rules close; name its collections, or let it allow nothing",
				1+strings.Count(m.text[:s.start], "\n"), s.name)
		}
	}
	return nil
}

// guard puts our conditions before those of the app.
func (m *merging) guard(s *statement, within string) {
	before := map[string]string{}
	switch within {
	case "questingGroups":
		before = map[string]string{"create": "keepsChannel({})", "update": "keepsChannel(resource.data)"}
	case "schedulers/basicPolls/votes", "questingGroups/basicPolls/votes":
		before = map[string]string{"create": "votesAsOneself()", "update": "votesAsOneself()"}
	}
	for _, inner := range s.inside {
		if inner.kind == "allow" && len(before) > 0 {
			line := strings.LastIndexByte(m.text[:inner.start], '\n') + 1
			m.edits = append(m.edits, edit{inner.start, inner.end, allow(inner, before, "\n"+m.text[line:inner.start])})
		}
	}
}

// allow is a statement with conditions before those that it has, method by method, each on
// a line of its own.
func allow(s *statement, before map[string]string, line string) string {
	var free, all []string
	for method := range strings.SplitSeq(s.name, ",") {
		method = strings.TrimSpace(method)
		methods := []string{method}
		if method == "write" {
			methods = []string{"create", "update", "delete"}
		}
		for _, one := range methods {
			if before[one] == "" {
				free = append(free, one)
			} else {
				all = append(all, fmt.Sprintf("allow %s: if %s && (%s);", one, before[one], s.condition))
			}
		}
	}
	if len(free) > 0 {
		all = append([]string{fmt.Sprintf("allow %s: if %s;", strings.Join(free, ", "), s.condition)}, all...)
	}
	return strings.Join(all, line)
}

// renamed gives functions of ours another name where the app has one of that name.
func renamed(text string, taken []string) string {
	for _, name := range taken {
		if !regexp.MustCompile(`function ` + name + `\(`).MatchString(text) {
			continue
		}
		text = regexp.MustCompile(`(^|[^.\w])`+name+`\(`).ReplaceAllString(text, "${1}quest_"+name+"(")
	}
	return text
}

// remove removes a statement, and its line if it has one to itself.
func (m *merging) remove(s *statement) {
	start, end := s.start, s.end
	before, after := strings.TrimRight(m.text[:start], " \t"), strings.TrimLeft(m.text[end:], " \t")
	if strings.HasSuffix(before, "\n") && strings.HasPrefix(after, "\n") {
		start, end = len(before), len(m.text)-len(after)+1
	}
	m.edits = append(m.edits, edit{start, end, ""})
}

// apply makes the edits, from the last on. One within another is the outer one's.
func (m *merging) apply() string {
	slices.SortFunc(m.edits, func(a, b edit) int { return a.start - b.start })
	var text strings.Builder
	at := 0
	for _, e := range m.edits {
		if e.start < at {
			continue
		}
		text.WriteString(m.text[at:e.start] + e.by)
		at = e.end
	}
	return text.String() + m.text[at:]
}
