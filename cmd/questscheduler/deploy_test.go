package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/config"
	"questscheduler/internal/outbox/cloudtasks"
	"questscheduler/internal/test/docs"
	"questscheduler/web-hooks/timers"
)

// These tests check the files of deploy/ against the program: what they set, call and
// deliver exists and has the right values.

// table returns the rows of a file of deploy/, without comments.
func table(t *testing.T, name string) [][]string {
	t.Helper()
	var rows [][]string
	for line := range strings.Lines(docs.Read(t, "deploy/"+name)) {
		line, _, _ = strings.Cut(line, "#")
		if cells := strings.Fields(line); len(cells) > 0 {
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("deploy/%s is empty", name)
	}
	return rows
}

// example returns the settings of deploy/settings.env.example.
func example(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]string{}
	for line := range strings.Lines(docs.Read(t, "deploy/settings.env.example")) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is && !strings.HasPrefix(name, "#") {
			values[name] = value
		}
	}
	return values
}

var (
	serviceSetting = regexp.MustCompile(`(?m)^ +- name: (QS_\w+)(?: # [A-Z]+)?\n +value: "?([^"\n#]*?)"?(?: # [A-Z]+)?$`)
	placeholder    = regexp.MustCompile(`\$\{(\w+)\}`)
)

// TestDeploy_Service_IsSetAsTheProgramWantsIt: with the example's values every variable
// is a setting, and none is wrong or missing.
func TestDeploy_Service_IsSetAsTheProgramWantsIt(t *testing.T) {
	t.Parallel()
	text := docs.Read(t, "deploy/service.yaml")
	for _, name := range placeholder.FindAllStringSubmatch(text, -1) {
		if _, is := example(t)[name[1]]; !is && name[0] != "${…}" {
			t.Errorf("deploy/service.yaml wants %s, which deploy/settings.env.example does not have", name[1])
		}
	}
	key, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	environ := []string{"K_SERVICE=questscheduler"}
	found := serviceSetting.FindAllStringSubmatch(text, -1)
	if len(found) != strings.Count(text, "- name: QS_") {
		t.Fatalf("%d settings could be read of %d", len(found), strings.Count(text, "- name: QS_"))
	}
	for _, setting := range found {
		name, value := setting[1], placeholder.ReplaceAllStringFunc(setting[2], func(text string) string {
			return example(t)[strings.Trim(text, "${}")]
		})
		if strings.HasSuffix(name, "_FILE") {
			if !strings.Contains(text, "mountPath: "+path.Dir(value)) {
				t.Errorf("%s is read from %s, where nothing is mounted", name, value)
			}
			value = filepath.Join(folder, name)
			secret := []byte(strings.Repeat("secret", 6))
			switch {
			case strings.Contains(name, "ENC_KEYS"):
				secret = key
			case strings.Contains(name, "ATTENDEES_KEY"):
				secret = []byte(serviceKey(t))
			}
			if err := os.WriteFile(value, secret, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		environ = append(environ, name+"="+value)
	}
	settings, err := config.Load(environ, config.Default())
	if err != nil {
		t.Fatalf("the program refuses what deploy/service.yaml sets:\n%v", err)
	}
	if settings.Store != config.StoreFirestore || settings.Queue != config.QueueCloudTasks || settings.Auth != config.AuthFirebase {
		t.Errorf("it is set to %s, %s, %s", settings.Store, settings.Queue, settings.Auth)
	}
	if !slices.Contains(settings.TrustedProxies, netip.MustParsePrefix("169.254.0.0/16")) {
		t.Errorf("the trusted proxies are %v, without Cloud Run's front end", settings.TrustedProxies)
	}
	for _, secret := range []string{"QS_GOOGLE_CLIENT_SECRET", "QS_ENC_KEYS", "QS_DISCORD_BOT_TOKEN", "QS_METRICS_TOKEN", "QS_ATTENDEES_KEY"} {
		if !strings.Contains(text, secret+"_FILE") || strings.Contains(text, secret+"\n") {
			t.Errorf("%s does not come from a file", secret)
		}
	}
}

// TestDeploy_Queues_AreThoseOfTheProgram: each kind has its queue, with the driver's
// waits and at most as many concurrent tasks as one process has workers.
func TestDeploy_Queues_AreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	s := openCloudServer(t, "QS_ATTENDEES_CSV=users.csv", "QS_ATTENDEES_DOMAINS=north.example")
	defer func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}()
	var named []string
	for _, row := range table(t, "queues.txt") {
		named = append(named, row[0])
		if got := strconv.Itoa(s.outbox.Workers(row[0])); got != row[1] {
			t.Errorf("the queue of %s hands over %s tasks at once, and a process runs %s: those beyond it would be refused", row[0], row[1], got)
		}
		first, err := time.ParseDuration(row[3])
		if err != nil {
			t.Fatal(err)
		}
		longest, err := time.ParseDuration(row[4])
		if err != nil {
			t.Fatal(err)
		}
		if first != time.Second || longest != cloudtasks.MostWait {
			t.Errorf("the queue of %s waits from %s to %s, and a delivery asks for 1s to %s", row[0], first, longest, cloudtasks.MostWait)
		}
	}
	if want := slices.Sorted(slices.Values(kinds)); !slices.Equal(slices.Sorted(slices.Values(named)), want) {
		t.Errorf("deploy/queues.txt has %v, and the program %v", named, want)
	}
}

// TestDeploy_Jobs_AreTheTimers: each job of the table is scheduled as often as it is
// due.
func TestDeploy_Jobs_AreTheTimers(t *testing.T) {
	t.Parallel()
	asked := map[string]string{}
	for _, row := range table(t, "jobs.txt") {
		asked[row[0]] = strings.Join(row[1:], " ")
	}
	step := func(context.Context, timers.Run) (timers.Stretch, error) { return timers.Stretch{}, nil }
	for _, job := range timers.Jobs(timers.Parts{
		FallbackEvery: config.Default().FallbackEvery, Health: step, Reconcile: step, RefreshMappings: step,
	}) {
		cron, is := asked[job.Name]
		delete(asked, job.Name)
		at := time.Time{}.Add(job.Offset)
		var want string
		switch job.Every {
		case time.Minute:
			want = `\* \* \* \* \*`
		case 5 * time.Minute, 10 * time.Minute:
			want = fmt.Sprintf(`\*/%d \* \* \* \*`, job.Every/time.Minute)
		case 24 * time.Hour:
			want = fmt.Sprintf(`%d %d \* \* \*`, at.Minute(), at.Hour())
		default:
			want = `\d+ \*/` + strconv.Itoa(int(job.Every.Hours())) + ` \* \* \*`
		}
		if !is || !regexp.MustCompile("^"+want+"$").MatchString(cron) {
			t.Errorf("the job %s runs by %q, want %q", job.Name, cron, want)
		}
	}
	if asked[timers.Drain] != "* * * * *" {
		t.Errorf("the drain runs by %q, want every minute", asked[timers.Drain])
	}
	delete(asked, timers.Drain)
	for name := range asked {
		t.Errorf("deploy/jobs.txt has %s, which is no job of web-hooks/timers/jobs.go", name)
	}
}

var (
	probed      = regexp.MustCompile(`(?m)^ +path: (/\S+)$`)
	changesPath = regexp.MustCompile(`--destination-run-path=(\S+)`)
	jobsPath    = regexp.MustCompile(`--uri="\$\{set_to\[PUBLIC_URL\]\}(/\S*/)\$name"`)
)

// TestDeploy_Routes_AreThoseOfTheProgram: every route that Google's services are
// configured to call exists.
func TestDeploy_Routes_AreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	script := docs.Read(t, "deploy/apply.sh")
	var called []string
	for _, probe := range probed.FindAllStringSubmatch(docs.Read(t, "deploy/service.yaml"), -1) {
		called = append(called, "GET "+probe[1])
	}
	if found := changesPath.FindStringSubmatch(script); found != nil {
		called = append(called, "POST "+found[1])
	}
	if found := jobsPath.FindStringSubmatch(script); found != nil {
		for _, row := range table(t, "jobs.txt") {
			called = append(called, "POST "+found[1]+row[0])
		}
	}
	if len(called) != 2+len(table(t, "jobs.txt")) {
		t.Fatalf("only these calls were found: %v", called)
	}
	if slices.Contains(called, "GET /readyz") {
		t.Error("an instance starts, or lives on, only while Firestore and Cloud Tasks answer")
	}
	var routes []string
	for _, route := range wiredEdge(t).Routes() {
		routes = append(routes, route.Method+" "+route.Path)
	}
	for _, call := range called {
		if !slices.Contains(routes, call) {
			t.Errorf("deploy/ calls %s, which is no route", call)
		}
	}
}

// TestDeploy_EveryFile_IsDocumented: on the pages for deployment, operation or alerts.
func TestDeploy_EveryFile_IsDocumented(t *testing.T) {
	t.Parallel()
	pages := docs.Read(t, "docs/deployment.md")
	pages += docs.Read(t, "docs/operations.md") + docs.Read(t, "docs/alerts.md")
	files, err := os.ReadDir(filepath.Join(docs.Root(t), "deploy"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file.Name() != "settings.env" && !strings.Contains(pages, "deploy/"+file.Name()) {
			t.Errorf("no page names deploy/%s", file.Name())
		}
	}
	for name := range example(t) {
		if !strings.Contains(docs.Read(t, "deploy/apply.sh"), name) {
			t.Errorf("deploy/apply.sh does not read %s", name)
		}
	}
}

var pinnedBase = regexp.MustCompile(`^FROM (scratch|\S+:\d+\.\d+\.\d+@sha256:[0-9a-f]{64})( AS \w+)?$`)

// A tag can name another image tomorrow; a digest cannot.
func TestDockerfile_EveryBase_IsPinnedByDigest(t *testing.T) {
	t.Parallel()
	bases := 0
	for line := range strings.Lines(docs.Read(t, "deploy/Dockerfile")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "FROM ") {
			bases++
			if !pinnedBase.MatchString(line) {
				t.Errorf("%s: name a version and a digest", line)
			}
		}
	}
	if bases != 2 {
		t.Errorf("%d bases were found", bases)
	}
}
