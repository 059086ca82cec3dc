package config_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/config"
)

// mark is in no message of this package, so a problem with it shows a value.
const mark = "zqxjkvw"

// FuzzLoad: every environment gives a whole configuration or a list of problems, one
// for each variable, sorted and without values; an accepted one shows no secret.
func FuzzLoad(f *testing.F) {
	f.Add("QS_ADDR=:8080\nQS_STORE=sqlite\nQS_WATCH_TTL=168h\nPATH=/bin")
	f.Add("QS_ADRR=x\nQS_ADDR=1\nQS_ADDR\nQS_=\n=QS_ADDR=2")
	f.Add("QS_PUBLIC_URL=https://u:p@x.test/?a=b#c\nQS_SYNC=maybe\nQS_MASS_CANCEL_SHARE=NaN\nQS_MASS_CANCEL_MIN=-9999999999999999999")
	f.Add("QS_PUBLIC_URL=https://quests.example\nQS_GOOGLE_CLIENT_ID=id\nQS_GOOGLE_CLIENT_SECRET=secret-of-ours\nQS_ENC_KEYS=k1:MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=\nQS_ALLOWED_ORIGINS=*, https://a.test,,")
	f.Add("QS_ENC_KEYS=a:b,c:d\nQS_NOTIFY_SETTLE=1e9h\nQS_SYNC_MIN_GAP=-1s\nQS_TASKS_SERVICE_ACCOUNT=@\nQS_QUEUE=cloudtasks")
	f.Add("QS_TRUSTED_PROXIES=127.0.0.1,::1,fd00::/8,10.0.0.1/8,::ffff:1.2.3.4/0,fe80::1%eth0")
	f.Fuzz(func(t *testing.T, text string) {
		var environ, marked []string
		for line := range strings.SplitSeq(text, "\n") {
			name, value, given := strings.Cut(line, "=")
			if strings.HasSuffix(name, "_FILE") || strings.Contains(name, mark) {
				continue // no file of this machine is read here
			}
			environ = append(environ, line)
			if given && value != "" {
				line = name + "=" + value[:len(value)/2] + mark + value[len(value)/2:]
			}
			marked = append(marked, line)
		}
		if _, err := config.Load(marked, config.Default()); err != nil && strings.Contains(err.Error(), mark) {
			t.Fatalf("a value is shown: %v", err)
		}
		loaded, err := config.Load(environ, config.Default())
		if err != nil {
			checkProblems(t, loaded, err)
			return
		}
		again, err := config.Load(environ, config.Default())
		if err != nil || !reflect.DeepEqual(again, loaded) {
			t.Fatalf("the same environment gives %v and %v, %v", loaded, again, err)
		}
		for _, secret := range []config.Secret{loaded.EncKeys, loaded.GoogleClientSecret, loaded.DiscordBotToken, loaded.MetricsToken} {
			if shown := fmt.Sprintf("%+v %#v", loaded, loaded); len(secret.Reveal()) > 8 && strings.Contains(shown, secret.Reveal()) {
				t.Fatalf("a secret is shown: %s", shown)
			}
		}
	})
}

func checkProblems(t *testing.T, loaded config.Config, err error) {
	t.Helper()
	problems, ok := errors.AsType[config.Problems](err)
	if !ok || len(problems) == 0 {
		t.Fatalf("refused with %#v", err)
	}
	if !reflect.DeepEqual(loaded, config.Config{}) {
		t.Fatal("refused, and half of it is given")
	}
	names := make([]string, len(problems))
	for i, problem := range problems {
		names[i] = problem.Name
		if problem.Fix == "" || !strings.HasPrefix(problem.Name, config.Prefix) {
			t.Fatalf("a problem without a fix: %+v", problem)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Fatalf("the problems are not sorted, or repeated: %v", names)
	}
}
