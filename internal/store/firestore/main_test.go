package firestore_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many tests wait at once: what takes time here is locks that the
// emulator holds, not work.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
