package layout_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"questscheduler/internal/test/docs"
)

// delivers finds the types of package notify that are channels.
var delivers = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)\) Deliver\(`)

// A channel that is written and not registered would reach nobody.
func TestChannels_AreRegistered(t *testing.T) {
	t.Parallel()
	wiring, channels := productText(t, "cmd/questscheduler"), delivers.FindAllStringSubmatch(productText(t, "notify"), -1)
	if len(channels) < 2 {
		t.Fatalf("%d channels were found, want those of the app and of Discord at least", len(channels))
	}
	for _, channel := range channels {
		if !regexp.MustCompile(`\bnotify\.(New)?` + channel[1] + `\b`).MatchString(wiring) {
			t.Errorf("notify.%s is a channel that cmd/questscheduler does not register", channel[1])
		}
	}
}

// productText is the Go text of a folder without its tests.
func productText(t *testing.T, folder string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(docs.Root(t), folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(content)
	}
	return text.String()
}
