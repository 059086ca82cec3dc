package callables

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// What is for this server or for what stands before it does not reach the app's
// functions, and they change nothing that browsers keep for this server.
func TestPassOn_CredentialsAndCookies_StayHere(t *testing.T) {
	t.Parallel()
	ours := []string{
		"Cookie", "X-Serverless-Authorization", "X-Goog-Iap-Jwt-Assertion", "X-Goog-Authenticated-User-Email",
		"X-Goog-Authenticated-User-Id", "X-Forwarded-Client-Cert", "Proxy-Authorization",
	}
	theirs := []string{"Authorization", "X-Firebase-Appcheck", "Firebase-Instance-Id-Token", "Content-Type"}
	forbidden := []string{
		"Set-Cookie", "Set-Cookie2", "Clear-Site-Data", "Strict-Transport-Security", "Alt-Svc", "Nel", "Report-To",
		"Reporting-Endpoints", "Service-Worker-Allowed", "Proxy-Authenticate",
	}
	came := make(chan http.Header, 1)
	address, _, ended := passing(t, func(rw http.ResponseWriter, r *http.Request) {
		came <- r.Header.Clone()
		for _, name := range append(forbidden, "X-Of-The-App") {
			rw.Header().Set(name, "x=1")
		}
		_, _ = io.WriteString(rw, `{"result":null}`) // its error shows as an answer that never came
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/theirs", strings.NewReader(`{"data":null}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(ours, theirs...) {
		request.Header.Set(name, "questscheduler_admin=secret")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	<-ended
	sent := <-came
	for _, name := range ours {
		if sent.Get(name) != "" {
			t.Errorf("%s is passed on", name)
		}
	}
	for _, name := range theirs {
		if sent.Get(name) == "" {
			t.Errorf("%s is not passed on", name)
		}
	}
	for _, name := range forbidden {
		if response.Header.Get(name) != "" {
			t.Errorf("%s is passed back", name)
		}
	}
	if response.Header.Get("X-Of-The-App") == "" {
		t.Error("a header of the app's own is not passed back")
	}
}
