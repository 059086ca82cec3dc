package config

import (
	"fmt"
	"log/slog"
)

// hidden is what a secret shows of itself.
const hidden = "(hidden)"

// Secret is a text that hides itself from logs, answers and dumps, however it
// is printed, also from within a struct whose fields are not exported. Reveal
// is the only way to it. The zero value is no secret.
type Secret struct {
	text *string // behind a pointer, which prints as an address at the worst
}

// NewSecret makes a secret of a text; "" makes none.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal gives the text, for the one place that needs it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet tells whether there is a text.
func (s Secret) IsSet() bool { return s.text != nil }

// String tells no more than whether there is a text.
func (s Secret) String() string {
	if !s.IsSet() {
		return ""
	}
	return hidden
}

// Format implements fmt.Formatter for every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprint(f, s.String()) // fmt has no use for the error
}

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler, which JSON uses too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON implements json.Marshaler.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// UnmarshalText implements encoding.TextUnmarshaler, for reading settings.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}
