package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/test/docs"
)

// pretend stands in for gcloud and firebase. It logs its arguments, answers whether a
// resource exists (of the secrets all, or all but one), and fails where the test says
// so.
const pretend = `#!/bin/sh
case " $* " in
  *" describe "*) [ "$FAKE_THERE" = yes ] || case " $* " in *" secrets "*"${FAKE_LACKS:-no such}"*) false ;; *" secrets "*) [ "$FAKE_SECRETS" = yes ] ;; *) false ;; esac; exit ;;
esac
echo "$(basename "$0") $*" >>"$FAKE_LOG"
case " $* " in
  *" services replace "*) cp "$4" "$FAKE_LOG.yaml" ;;
  *" deploy "*) cp -r "$(dirname "$5")" "$FAKE_LOG.firebase" ;;
esac
if [ -n "$FAKE_FAILS" ]; then case " $* " in *"$FAKE_FAILS"*) echo "no" >&2; exit 3 ;; esac; fi
`

// applied is the result of a run of deploy/apply.sh.
type applied struct {
	code  int
	said  string
	calls []string
	log   string
}

// filled gives the example's values as an operator fills them in.
var filled = strings.NewReplacer("quests-example", "quests-4711", "example.org", "party.test", "0.apps", "4711-a.apps")

// apply runs deploy/apply.sh with the example's settings, filled in and changed, and with
// the stand-ins for its clients.
func apply(t *testing.T, settings map[string]string, environ []string, arguments ...string) applied {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("skipped: deploy/apply.sh, since there is no bash")
	}
	folder := t.TempDir()
	for _, client := range []string{"gcloud", "firebase"} {
		if err := os.WriteFile(filepath.Join(folder, client), []byte(pretend), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	values := example(t)
	for name, value := range values {
		values[name] = filled.Replace(value)
	}
	for name, value := range settings {
		if value == "" {
			delete(values, name)
			continue
		}
		values[name] = value
	}
	var text strings.Builder
	for name, value := range values {
		text.WriteString(name + "=" + value + "\n")
	}
	file := filepath.Join(folder, "settings.env")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	result := applied{log: filepath.Join(folder, "log")}
	script := filepath.Join(docs.Root(t), "deploy", "apply.sh")
	arguments = append([]string{script, "--settings", file}, arguments...)
	command := exec.CommandContext(t.Context(), bash, arguments...) //nolint:gosec // it is what is tested
	command.Env = append(slices.Clone(environ), "FAKE_LOG="+result.log,
		"PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+folder)
	output, err := command.CombinedOutput()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		result.code = ended.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	result.said = string(output)
	if calls, err := os.ReadFile(result.log); err == nil {
		result.calls = strings.Split(strings.TrimSpace(string(calls)), "\n")
	}
	if left, err := filepath.Glob(filepath.Join(folder, "tmp.*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v behind (%v)", left, err)
	}
	return result
}

// at is the index of the first call that has all these words, or -1.
func (a applied) at(words ...string) int {
	return slices.IndexFunc(a.calls, func(call string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(call, word) })
	})
}

// steps are in the order in which each has what it needs, named by words that one call
// of each has.
var steps = [][]string{
	{"gcloud services enable", "run.googleapis.com", "eventarc.googleapis.com", "eventarcpublishing.googleapis.com", "pubsub.googleapis.com",
		"logging.googleapis.com", "calendar-json.googleapis.com"},
	{"iam service-accounts create questscheduler-server"},
	{"iam service-accounts create questscheduler-machines"},
	{"firebase deploy --only firestore:indexes", "--non-interactive"},
	{"firestore fields ttls update expiresAt", "--collection-group=idempotencyKeys", "--enable-ttl"},
	{"tasks queues create questscheduler-sync", "--max-attempts=-1", "--max-backoff=600s", "--location=europe-west1"},
	{"tasks queues create questscheduler-timer"},
	{"projects add-iam-policy-binding quests-4711", "questscheduler-server@", "roles/datastore.user", "--condition=None"},
	{"tasks queues add-iam-policy-binding questscheduler-sync", "roles/cloudtasks.enqueuer"},
	{"secrets add-iam-policy-binding questscheduler-enc-keys", "roles/secretmanager.secretAccessor"},
	{"iam service-accounts add-iam-policy-binding questscheduler-machines@", "questscheduler-server@", "roles/iam.serviceAccountUser"},
	{"projects add-iam-policy-binding", "questscheduler-machines@", "roles/eventarc.eventReceiver"},
	{"artifacts repositories create questscheduler", "--repository-format=docker"},
	{"builds submit", "_IMAGE=europe-west1-docker.pkg.dev/quests-4711/questscheduler/server:v1"},
	{"run services replace"},
	{"run services add-iam-policy-binding questscheduler", "questscheduler-machines@", "roles/run.invoker"},
	{"run services add-iam-policy-binding questscheduler", "--member=allUsers", "roles/run.invoker"},
	{"scheduler jobs create http questscheduler-drain", "--schedule=* * * * *", "--uri=https://quests.party.test/jobs/drain",
		"--oidc-service-account-email=questscheduler-machines@", "--oidc-token-audience=https://quests.party.test",
		"--attempt-deadline=60s", "--max-retry-attempts=3"},
	{"scheduler jobs create http questscheduler-health"},
	{"eventarc triggers create questscheduler-documents", "--location=eur3", "type=google.cloud.firestore.document.v1.written",
		"document=schedulers/{id}", "--destination-run-path=/webhooks/documents", "--service-account=questscheduler-machines@"},
}

func TestApply_ToNothing_MakesEachThingBeforeWhatNeedsIt(t *testing.T) {
	t.Parallel()
	run := apply(t, nil, []string{"FAKE_SECRETS=yes"})
	if run.code != 0 {
		t.Fatalf("it ends with %d:\n%s", run.code, run.said)
	}
	before := -1
	for _, step := range steps {
		at := run.at(step...)
		if at <= before {
			t.Errorf("%v comes as number %d, after number %d:\n%s", step, at, before, strings.Join(run.calls, "\n"))
		}
		before = max(at, before)
	}
	for _, call := range run.calls {
		if strings.HasPrefix(call, "gcloud ") && !strings.Contains(call, "quests-4711") {
			t.Errorf("%s names no project", call)
		}
	}
	service, err := os.ReadFile(run.log + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, odd := range []string{"${PROJECT", "${IMAGE", "DISCORD\n", "discord", "METRICS", "metrics"} {
		if strings.Contains(string(service), odd) {
			t.Errorf("the service that is sent holds %q", odd)
		}
	}
	if !strings.Contains(string(service), "image: europe-west1-docker.pkg.dev/quests-4711/questscheduler/server:v1\n") ||
		!strings.Contains(string(service), "questscheduler-machines@quests-4711.iam.gserviceaccount.com") {
		t.Errorf("the service that is sent is\n%s", service)
	}
}

func TestApply_ToWhatIsThere_UpdatesAndMakesNothing(t *testing.T) {
	t.Parallel()
	run := apply(t, nil, []string{"FAKE_THERE=yes"})
	if run.code != 0 {
		t.Fatalf("it ends with %d:\n%s", run.code, run.said)
	}
	for _, call := range run.calls {
		if strings.Contains(call, " create") || strings.Contains(call, "delete") || strings.Contains(call, "builds submit") {
			t.Errorf("it runs %s", call)
		}
	}
	for _, want := range [][]string{{"tasks queues update questscheduler-sync"},
		{"scheduler jobs update http questscheduler-drain"}, {"run services replace"},
		{"eventarc triggers update questscheduler-documents", "--destination-run-region=europe-west1", "database=(default)",
			"document=schedulers/{id}",
			"--destination-run-path=/webhooks/documents", "--service-account=questscheduler-machines@"}} {
		if run.at(want...) < 0 {
			t.Errorf("it does not run %v", want)
		}
	}
}

func TestApply_AnAddressThatEndsWithASlash_IsTheSameAddress(t *testing.T) {
	t.Parallel()
	run := apply(
		t, map[string]string{"PUBLIC_URL": "https://quests.party.test//", "AUDIENCE": "https://q.run.app/"},
		[]string{"FAKE_THERE=yes"},
	)
	if run.code != 0 ||
		run.at("scheduler jobs update http questscheduler-drain", "--uri=https://quests.party.test/jobs/drain ",
			"--oidc-token-audience=https://q.run.app ") < 0 {
		t.Errorf("it ends with %d, after\n%s", run.code, strings.Join(run.calls, "\n"))
	}
}

// Each row is a command that fails: nothing comes after it.
func TestApply_ACommandFails_EndsThere(t *testing.T) {
	t.Parallel()
	for _, fails := range []string{"services enable", "firebase deploy", "ttls update", "queues create questscheduler-intent",
		"secrets add-iam-policy-binding", "builds submit", "services replace", "jobs create http questscheduler-cleanup"} {
		t.Run(fails, func(t *testing.T) {
			t.Parallel()
			words := strings.TrimPrefix(fails, "firebase ") // its own name is none of its arguments
			run := apply(t, nil, []string{"FAKE_SECRETS=yes", "FAKE_FAILS=" + words})
			if run.code == 0 || len(run.calls) == 0 || !strings.Contains(run.calls[len(run.calls)-1], words) {
				t.Fatalf("it ends with %d, after\n%s", run.code, strings.Join(run.calls, "\n"))
			}
		})
	}
}

func TestApply_ADryRun_CallsNothing(t *testing.T) {
	t.Parallel()
	run := apply(t, nil, nil, "--dry-run")
	if run.code != 0 || len(run.calls) > 0 {
		t.Fatalf("it ends with %d, after %v", run.code, run.calls)
	}
	for _, step := range steps {
		if !strings.Contains(run.said, strings.TrimPrefix(step[0], "gcloud ")) {
			t.Errorf("it does not print %s", step[0])
		}
	}
}

func TestApply_WithRules_SendsThem(t *testing.T) {
	t.Parallel()
	run := apply(t, map[string]string{"RULES": "firestore.rules", "DATABASE": "quests"}, []string{"FAKE_SECRETS=yes"})
	if run.code != 0 || run.at("firebase deploy --only firestore:rules,firestore:indexes") < 0 {
		t.Fatalf("it ends with %d, after\n%s", run.code, strings.Join(run.calls, "\n"))
	}
	for name, want := range map[string]string{
		"firestore.rules": docs.Read(t, "firestore.rules"), "firestore.indexes.json": docs.Read(t, "firestore.indexes.json"),
		"firebase.json": `{"firestore": {"database": "quests", "rules": "firestore.rules", "indexes": "firestore.indexes.json"}}` + "\n",
	} {
		if sent, err := os.ReadFile(filepath.Join(run.log+".firebase", name)); err != nil || string(sent) != want {
			t.Errorf("firebase is given %q as %s (%v)", sent, name, err)
		}
	}
}

// TestApply_OptionalSecret_IsMountedWhenItsSettingIsYes, and only then: the
// service does not start if a mounted secret does not exist.
func TestApply_OptionalSecret_IsMountedWhenItsSettingIsYes(t *testing.T) {
	t.Parallel()
	secrets := map[string]struct{ secret, setting, mount string }{
		"DISCORD": {"questscheduler-discord-bot-token", "- name: QS_DISCORD_BOT_TOKEN_FILE\n", "/secrets/discord-bot-token\n"},
		"METRICS": {"questscheduler-metrics-token", "- name: QS_METRICS_TOKEN_FILE\n", "/secrets/metrics-token\n"},
	}
	for name, settings := range map[string]map[string]string{
		"neither": {}, "the bot": {"DISCORD": "yes"}, "the figures": {"METRICS": "yes"}, "both": {"DISCORD": "yes", "METRICS": "yes"},
		"settings of before the figures had one": {"METRICS": ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := apply(t, settings, []string{"FAKE_SECRETS=yes"})
			service, err := os.ReadFile(run.log + ".yaml")
			if run.code != 0 || err != nil {
				t.Fatalf("it ends with %d (%v):\n%s", run.code, err, run.said)
			}
			for setting, want := range secrets {
				yes := settings[setting] == "yes"
				if read := run.at("secrets add-iam-policy-binding "+want.secret, "questscheduler-server@",
					"roles/secretmanager.secretAccessor") >= 0; read != yes {
					t.Errorf("the server may read %s: %t", want.secret, read)
				}
				for _, part := range []string{want.setting, "mountPath: " + want.mount, "secretName: " + want.secret + "\n"} {
					// Where it is read its lines still end with the setting's name.
					if held := strings.Contains(strings.ReplaceAll(string(service), " # "+setting, ""), part); held != yes {
						t.Errorf("the service holds %q: %t", part, held)
					}
				}
			}
		})
	}
}

func TestApply_LoadBalancers_AreTrustedBesideCloudRunsFront(t *testing.T) {
	t.Parallel()
	for addresses, want := range map[string]string{
		"":                            `"169.254.0.0/16,"`,
		"192.0.2.80,2001:db8::80/128": `"169.254.0.0/16,192.0.2.80,2001:db8::80/128"`,
	} {
		run := apply(t, map[string]string{"LOAD_BALANCERS": addresses}, []string{"FAKE_THERE=yes"})
		service, err := os.ReadFile(run.log + ".yaml")
		if run.code != 0 || err != nil || !strings.Contains(string(service), "- name: QS_TRUSTED_PROXIES\n              value: "+want+"\n") {
			t.Errorf("for %q it ends with %d (%v), and the service is\n%s", addresses, run.code, err, service)
		}
	}
}

// TestApply_TheServersRights_AreThoseThatItsSettingsNeed: the server may read users
// only if it asks Firebase about them.
func TestApply_TheServersRights_AreThoseThatItsSettingsNeed(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string][]string{
		"off": {"roles/datastore.user"},
		"on":  {"roles/datastore.user", "roles/firebaseauth.viewer"},
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			run := apply(t, map[string]string{"REVOCATION": setting}, []string{"FAKE_THERE=yes"})
			var roles []string
			for _, call := range run.calls {
				if strings.Contains(call, "projects add-iam-policy-binding") && strings.Contains(call, "questscheduler-server@") {
					_, role, _ := strings.Cut(call, "--role=")
					roles = append(roles, role)
				}
			}
			if run.code != 0 || !slices.Equal(roles, want) {
				t.Errorf("it ends with %d, and gives the server %v in the project", run.code, roles)
			}
			service, err := os.ReadFile(run.log + ".yaml")
			if err != nil || !strings.Contains(string(service), "- name: QS_FIREBASE_REVOCATION\n              value: \""+setting+"\"\n") {
				t.Errorf("the service does not get the setting (%v)", err)
			}
		})
	}
}

// Each row is an error that is found before anything is done.
func TestApply_WrongFromTheStart_ChangesNothingAndSaysWhy(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		settings  map[string]string
		arguments []string
		says      string
	}{
		"no project":               {map[string]string{"PROJECT": ""}, nil, "these are missing: PROJECT"},
		"a setting that is none":   {map[string]string{"PROJCET": "x"}, nil, "PROJCET is no setting"},
		"a text that ends another": {map[string]string{"APP_URL": `https://a"b`}, nil, "APP_URL has a character"},
		"neither yes nor no":       {map[string]string{"METRICS": "on"}, nil, "METRICS has to be yes or no"},
		"a bot, or none":           {map[string]string{"DISCORD": "true"}, nil, "DISCORD has to be yes or no"},
		"rules that are not there": {map[string]string{"RULES": "nowhere.rules"}, nil, "nowhere.rules cannot be read"},
		"an argument that is none": {nil, []string{"--now"}, "usage:"},
		"settings that are absent": {nil, []string{"--settings", "/nowhere"}, "/nowhere cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := apply(t, row.settings, []string{"FAKE_SECRETS=yes"}, row.arguments...)
			if run.code != 2 || len(run.calls) > 0 || !strings.Contains(run.said, row.says) {
				t.Fatalf("it ends with %d after %v, and says\n%s", run.code, run.calls, run.said)
			}
		})
	}
}

func TestApply_ASecretWithoutAValue_IsAskedFor(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"questscheduler-google-client-secret", "questscheduler-enc-keys", "questscheduler-metrics-token"} {
		t.Run(secret, func(t *testing.T) {
			t.Parallel()
			run := apply(t, map[string]string{"METRICS": "yes"}, []string{"FAKE_SECRETS=yes", "FAKE_LACKS=" + secret})
			if run.code != 1 || !strings.Contains(run.said, "the secret "+secret+" has no value") || run.at("run services replace") >= 0 {
				t.Fatalf("it ends with %d, and says\n%s", run.code, run.said)
			}
		})
	}
}

func TestApply_WithSecondAddresses_MakesTheirJobAndReadsTheirKey(t *testing.T) {
	t.Parallel()
	job, key := []string{"scheduler jobs create http questscheduler-refresh-mappings", "--schedule=*/5 * * * *"},
		[]string{"secrets add-iam-policy-binding questscheduler-attendees-key"}
	without := apply(t, nil, []string{"FAKE_SECRETS=yes"})
	if without.code != 0 || without.at(job...) >= 0 || without.at(key...) >= 0 {
		t.Errorf("without them it ends with %d, and makes their job or reads their key:\n%s", without.code, strings.Join(without.calls, "\n"))
	}
	on := map[string]string{"ATTENDEES": "yes", "ATTENDEES_SHEET": "sheet-1", "ATTENDEES_DOMAINS": "north.test"}
	with := apply(t, on, []string{"FAKE_SECRETS=yes"})
	if with.code != 0 || with.at(job...) < 0 || with.at(key...) < 0 {
		t.Errorf("with them it ends with %d, and lacks their job or key:\n%s\n%s", with.code, with.said, strings.Join(with.calls, "\n"))
	}
	delete(on, "ATTENDEES_SHEET")
	if half := apply(t, on, []string{"FAKE_SECRETS=yes"}); half.code != 2 ||
		!strings.Contains(half.said, "ATTENDEES_SHEET or ATTENDEES_DOMAINS is missing") || len(half.calls) > 0 {
		t.Errorf("without the sheet it ends with %d, says %q and calls %v", half.code, half.said, half.calls)
	}
}

// What an example or a manual has in place of a value is refused before anything is done.
func TestApply_Placeholders_AreRefusedByTheirNames(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"PROJECT":            {"PROJECT", "MY_PROJECT_ID", "quests-example", "your-project", "YOUR_PROJECT", "<project>", "…"},
		"IMAGE":              {"REGION-docker.pkg.dev/PROJECT/REPOSITORY/NAME", "europe-west1-docker.pkg.dev/PROJECT/questscheduler/server"},
		"PUBLIC_URL":         {"https://example.com", "https://quests.example.org", "https://Example.com/", "https://<host>"},
		"APP_URL":            {"https://app.example"},
		"GOOGLE_CLIENT_ID":   {"0.apps.googleusercontent.com", "YOUR_CLIENT_ID.apps.googleusercontent.com", "xxxx.apps.googleusercontent.com"},
		"CALLABLES_UPSTREAM": {"https://europe-west1-quests-example.cloudfunctions.net"},
		"ADMIN_USERS":        {"<uid>", "your-uid"},
	} {
		for _, value := range values {
			run := apply(t, map[string]string{name: value}, nil)
			if run.code != 2 || len(run.calls) > 0 || !strings.Contains(run.said, "  "+name+"=") || strings.Count(run.said, "\n") != 2 {
				t.Errorf("with %s=%s it ends with %d, and calls %v:\n%s", name, value, run.code, run.calls, run.said)
			}
		}
	}
	unfilled := apply(t, example(t), nil, "--dry-run")
	for _, name := range []string{"PROJECT", "IMAGE", "PUBLIC_URL", "APP_URL", "AUDIENCE", "ALLOWED_ORIGINS", "GOOGLE_CLIENT_ID"} {
		if !strings.Contains(unfilled.said, "\n  "+name+"=") || unfilled.code != 2 || len(unfilled.calls) > 0 {
			t.Errorf("the example as it is ends with %d and does not name %s:\n%s", unfilled.code, name, unfilled.said)
		}
	}
	own := map[string]string{"PROJECT": "exemplary-yourself", "ADMIN_USERS": "examples,NAMES,youra"}
	if run := apply(t, own, []string{"FAKE_SECRETS=yes"}); run.code != 0 {
		t.Errorf("real values are refused:\n%s", run.said)
	}
}
