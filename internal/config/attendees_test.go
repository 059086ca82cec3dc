package config_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
)

// serviceKey is a JSON key of a service account, as the Google Cloud console gives it.
func serviceKey(t *testing.T) string {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "sync@p.iam.gserviceaccount.com", "private_key_id": "k1",
		"token_uri":   "https://oauth2.googleapis.com/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(key)
}

func TestAttendees_WrongSetting_IsNamedWithItsFix(t *testing.T) {
	t.Parallel()
	key := "QS_ATTENDEES_KEY=" + serviceKey(t)
	for name, tc := range map[string]struct {
		environ []string
		setting string
		fix     string
	}{
		"a sheet and a file": {
			[]string{"QS_ATTENDEES_SHEET=s", "QS_ATTENDEES_CSV=f.csv", "QS_ATTENDEES_DOMAINS=a.example", key}, "QS_ATTENDEES_CSV",
			"QS_ATTENDEES_SHEET too",
		},
		"a file without domains":  {[]string{"QS_ATTENDEES_CSV=f.csv"}, "QS_ATTENDEES_DOMAINS", "domains of primary addresses"},
		"a sheet without domains": {[]string{"QS_ATTENDEES_SHEET=s", key}, "QS_ATTENDEES_DOMAINS", "domains of primary addresses"},
		"a domain with @":         {[]string{"QS_ATTENDEES_CSV=f.csv", "QS_ATTENDEES_DOMAINS=@a.example"}, "QS_ATTENDEES_DOMAINS", "without @"},
		"a domain of one word": {
			[]string{"QS_ATTENDEES_CSV=f.csv", "QS_ATTENDEES_DOMAINS=a.example,b"}, "QS_ATTENDEES_DOMAINS", "such as north.example",
		},
		"a sheet nobody can read": {
			[]string{"QS_ATTENDEES_SHEET=s", "QS_ATTENDEES_DOMAINS=a.example"}, "QS_ATTENDEES_KEY", "QS_ATTENDEES_ACCOUNT",
		},
		"a sheet by its address": {
			[]string{"QS_ATTENDEES_SHEET=https://docs.google.com/spreadsheets/d/s/edit", "QS_ATTENDEES_DOMAINS=a.example", key},
			"QS_ATTENDEES_SHEET", "between /d/ and /edit",
		},
		"a reader without sheet": {
			[]string{"QS_ATTENDEES_CSV=f.csv", "QS_ATTENDEES_DOMAINS=a.example", "QS_ATTENDEES_ACCOUNT=acc_1"},
			"QS_ATTENDEES_ACCOUNT", "QS_ATTENDEES_SHEET is not set",
		},
		"another way of sending": {[]string{"QS_ATTENDEES_SEND_UPDATES=some"}, "QS_ATTENDEES_SEND_UPDATES", "none, externalOnly, all"},
		"a key that is no JSON": {
			[]string{"QS_ATTENDEES_KEY=hush-hush"}, "QS_ATTENDEES_KEY", "The key of the service account cannot be used: ",
		},
		"a key of another kind": {
			[]string{`QS_ATTENDEES_KEY={"type":"authorized_user","private_key":"hush-hush"}`}, "QS_ATTENDEES_KEY",
			"The key of the service account cannot be used: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := problems(t, enough(tc.environ...))
			if len(found) != 1 || found[0].Name != tc.setting || !strings.Contains(found[0].Fix, tc.fix) || strings.Contains(found.Error(), "hush") {
				t.Errorf("got %v, want one problem of %s with %q", found, tc.setting, tc.fix)
			}
		})
	}
}

func TestAttendees_WithASource_AreOn(t *testing.T) {
	t.Parallel()
	for name, environ := range map[string][]string{
		"a file":                            {"QS_ATTENDEES_CSV=f.csv", "QS_ATTENDEES_DOMAINS=A.example"},
		"a sheet read by a linked account":  {"QS_ATTENDEES_SHEET=1aB_-c", "QS_ATTENDEES_DOMAINS=a.example", "QS_ATTENDEES_ACCOUNT=acc_1"},
		"a sheet read by a service account": {"QS_ATTENDEES_SHEET=1aB_-c", "QS_ATTENDEES_DOMAINS=a.example", "QS_ATTENDEES_KEY=" + serviceKey(t)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := load(t, enough(environ...))
			if !c.AttendeesOn() || fmt.Sprint(c.AttendeesDomains) != "[a.example]" {
				t.Errorf("on is %t, domains are %v", c.AttendeesOn(), c.AttendeesDomains)
			}
			if shown := fmt.Sprintf("%+v %#v", c, c); strings.Contains(shown, "PRIVATE KEY") {
				t.Errorf("the key is shown: %s", shown)
			}
		})
	}
	if load(t, enough("QS_ATTENDEES_DOMAINS=a.example", "QS_ATTENDEES_SEND_UPDATES=all")).AttendeesOn() {
		t.Error("second addresses are on without a sheet or file")
	}
}
