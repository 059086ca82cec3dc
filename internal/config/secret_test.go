package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"questscheduler/internal/config"
)

func TestSecret_Printed_IsHidden(t *testing.T) {
	t.Parallel()
	const planted = "pl4nted"
	c := config.Default()
	c.EncKeys = config.NewSecret(planted)
	inside := struct{ unexported config.Config }{c} // fmt calls no methods here

	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%08s"} {
		for _, value := range []any{c.EncKeys, &c.EncKeys, c, &c, inside, &inside} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("config", "all", c, "one", c.EncKeys)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("config", "all", c, "one", c.EncKeys)
	text, err := json.Marshal(map[string]any{"all": c, "one": c.EncKeys})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)

	for _, form := range []string{planted, fmt.Sprintf("%x", planted), fmt.Sprintf("%X", planted)} {
		if strings.Contains(out.String(), form) {
			t.Errorf("the secret is shown as %q", form)
		}
	}
	if !strings.Contains(out.String(), "(hidden)") {
		t.Error("nothing says that a secret is set")
	}
}

func TestSecret_Reveal_ReturnsTheText(t *testing.T) {
	t.Parallel()
	if s := config.NewSecret("x"); !s.IsSet() || s.Reveal() != "x" || s.String() != "(hidden)" {
		t.Errorf("set: %v %q", s.IsSet(), s.Reveal())
	}
	if s := config.NewSecret(""); s.IsSet() || s.Reveal() != "" || s.String() != "" {
		t.Errorf("not set: %v %q", s.IsSet(), s.Reveal())
	}
}
