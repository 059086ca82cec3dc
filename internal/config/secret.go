package config

import "fmt"

// Secret is a text that logs, answers and dumps do not show, even from a struct whose
// fields are not exported. Only Reveal returns it. The zero value holds none.
type Secret struct {
	text *string // at worst, the pointer prints as an address
}

// NewSecret hides a text; "" is no secret.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports whether there is a text.
func (s Secret) IsSet() bool { return s.text != nil }

// String is "(hidden)", or "" if there is no text.
func (s Secret) String() string {
	if !s.IsSet() {
		return ""
	}
	return "(hidden)"
}

// Format implements fmt.Formatter for every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprint(f, s.String()) // fmt has no use for the error
}

// MarshalText implements encoding.TextMarshaler, which slog and JSON use.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}
