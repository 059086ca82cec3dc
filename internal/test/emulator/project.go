package emulator

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
)

// Project gives a test a Firestore project of its own, by an id that no other
// test has and that stands for nothing outside the emulator ("demo-…"). What
// was written there goes when the test ends.
func Project(t testing.TB) (host, project string) {
	t.Helper()
	host = Firestore(t)
	project = "demo-" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		address := "http://" + host + "/emulator/v1/projects/" + project + "/databases/(default)/documents"
		request, err := http.NewRequest(http.MethodDelete, address, http.NoBody) //nolint:noctx // the test's own context has ended
		if err != nil {
			t.Error(err)
			return
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Errorf("the emulator did not let its data go: %v", err)
			return
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	})
	return host, project
}
