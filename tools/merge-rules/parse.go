package main

import (
	"fmt"
	"regexp"
	"strings"
)

// statement is a match, function or allow, with its place in the text.
type statement struct {
	kind       string // service, match, function or allow
	name       string // a match's path, a function's name, an allow's methods
	condition  string // of an allow; "true" without one
	start, end int
	body       [2]int // of a match or function, within its braces
	inside     []*statement
}

// parser reads rules. Its methods skip comments and texts.
type parser struct {
	text string
	at   int
}

// parse returns the statements of a file.
func parse(text string) ([]*statement, error) {
	p := &parser{text: text}
	return p.statements(len(text))
}

func (p *parser) statements(end int) (all []*statement, err error) {
	for p.blank(); p.at < end; p.blank() {
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		if s != nil {
			all = append(all, s)
		}
	}
	return all, nil
}

var (
	opening = regexp.MustCompile(`^(service|match|function|allow|rules_version)\b\s*`)
	named   = regexp.MustCompile(`^\w+`)
)

func (p *parser) statement() (s *statement, err error) {
	word := opening.FindStringSubmatch(p.text[p.at:])
	if word == nil {
		return nil, p.unknown()
	}
	s = &statement{kind: word[1], start: p.at}
	p.at += len(word[0])
	switch s.kind {
	case "rules_version":
		return nil, p.until(';')
	case "allow":
		from := p.at
		if err := p.until(';'); err != nil {
			return nil, err
		}
		methods, condition, _ := strings.Cut(p.text[from:p.at-1], ":")
		condition = strings.TrimSpace(condition)
		s.name, s.condition = strings.TrimSpace(methods), strings.TrimSpace(strings.TrimPrefix(condition, "if"))
		if s.condition == "" {
			s.condition = "true"
		}
	case "function":
		s.name = named.FindString(p.text[p.at:])
		if err := p.until('{'); err != nil {
			return nil, err
		}
		if err := p.block(s); err != nil {
			return nil, err
		}
	default: // a match's path has braces of its own, and a space before its block
		size := strings.Index(p.text[p.at:], " {")
		if size < 0 {
			return nil, p.unknown()
		}
		s.name = strings.TrimSpace(p.text[p.at : p.at+size])
		p.at += size + len(" {")
		if err := p.block(s); err != nil {
			return nil, err
		}
		inner := &parser{text: p.text, at: s.body[0]}
		s.inside, err = inner.statements(s.body[1])
		if err != nil {
			return nil, err
		}
	}
	s.end = p.at
	return s, nil
}

// block goes behind the brace that ends a statement.
func (p *parser) block(s *statement) error {
	s.body[0] = p.at
	for depth := 1; p.at < len(p.text); {
		switch p.next() {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			s.body[1] = p.at - 1
			return nil
		}
	}
	return fmt.Errorf("line %d: its block has no end", p.line(s.start))
}

// until goes behind a character.
func (p *parser) until(end byte) error {
	from := p.at
	for p.at < len(p.text) {
		if p.next() == end {
			return nil
		}
	}
	return fmt.Errorf("line %d: there is no %c behind it", p.line(from), end)
}

// next goes on by a character, or by a whole comment or text, which is a blank.
func (p *parser) next() byte {
	rest := p.text[p.at:]
	size := 1
	switch {
	case strings.HasPrefix(rest, "//"):
		size = lengthTo(rest, "\n", 2)
	case strings.HasPrefix(rest, "/*"):
		size = lengthTo(rest, "*/", 2)
	case rest[0] == '\'' || rest[0] == '"':
		for size < len(rest) && rest[size] != rest[0] {
			if rest[size] == '\\' {
				size++
			}
			size++
		}
		size = min(size+1, len(rest))
	default:
		p.at++
		return rest[0]
	}
	p.at += size
	return ' '
}

func lengthTo(text, end string, from int) int {
	size := strings.Index(text[from:], end)
	if size < 0 {
		return len(text)
	}
	return from + size + len(end)
}

// blank skips white space and comments.
func (p *parser) blank() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		if !strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, "/*") && !strings.ContainsRune(" \t\r\n;", rune(rest[0])) {
			return
		}
		p.next()
	}
}

func (p *parser) unknown() error {
	return fmt.Errorf("line %d: no service, match, function or allow begins there", p.line(p.at))
}

func (p *parser) line(at int) int { return 1 + strings.Count(p.text[:at], "\n") }
