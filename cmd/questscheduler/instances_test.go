package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"questscheduler/demo"
	"questscheduler/internal/test/tokentest"
	webhooks "questscheduler/web-hooks"
)

// balancer distributes requests to several instances in turn.
type balancer struct {
	mu        sync.Mutex
	instances []http.Handler
	next      int
}

// ServeHTTP implements http.Handler.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	if len(b.instances) == 0 {
		b.mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	instance := b.instances[b.next%len(b.instances)]
	b.next++
	b.mu.Unlock()
	instance.ServeHTTP(w, r)
}

func (b *balancer) add(t *testing.T, address string) {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.instances = append(b.instances, httputil.NewSingleHostReverseProxy(target))
}

// TestMainJob_OnTwoInstances: users' calls, Google's pushes and the tasks of both
// instances go to the two in turn.
func TestMainJob_OnTwoInstances(t *testing.T) {
	t.Parallel()
	before := &balancer{}
	front := httptest.NewServer(before)
	t.Cleanup(front.Close)
	environ, dir, addr := append(onCloud(t), "QS_PUBLIC_URL="+front.URL), t.TempDir(), freeAddress(t)
	before.add(t, "http://"+addr)
	one := startDemo(t, dir, append(slices.Clone(environ), "QS_ADDR="+addr)...)
	other := serve(t, append(slices.Clone(environ), "QS_ADDR=127.0.0.1:0", "QS_NOTIFY_SETTLE=0", "QS_DISCORD_OWN=all",
		"QS_GOOGLE_CLIENT_ID=demo", "QS_GOOGLE_CLIENT_SECRET=demo", "QS_GOOGLE_ENDPOINT="+one.Google, "QS_DISCORD_ENDPOINT="+one.Discord,
		"QS_DISCORD_BOT_TOKEN="+one.DiscordToken, "QS_ENC_KEYS_FILE="+filepath.Join(dir, demo.KeysFile)))
	before.add(t, other.url)
	one.API = front.URL
	walk(t, newMainJob(&outside{t, one}))
}

// machineServer is a server that accepts machine tokens of the test's issuer.
func machineServer(t *testing.T, more ...string) (*serving, *tokentest.Issuer) {
	t.Helper()
	issuer := tokentest.NewIssuer(t)
	return serve(t, settings(t.TempDir(), append([]string{
		"QS_PUBLIC_URL=https://quests.example.org", "QS_MACHINE_ISSUER=" + issuer.URL,
		"QS_MACHINE_ACCOUNTS=clock@p.iam.gserviceaccount.com,events@p.iam.gserviceaccount.com",
		"QS_QUEUE=cloudtasks", "QS_CLOUDTASKS_QUEUE=projects/p/locations/l/queues/q", "QS_CLOUDTASKS_ENDPOINT=127.0.0.1:1",
		"QS_TASKS_SERVICE_ACCOUNT=tasks@p.iam.gserviceaccount.com", "QS_TASKS_AUDIENCE=https://audience.example.org",
	}, more...)...)), issuer
}

// TestServe_TellsMachinesApart: each route accepts only its own service accounts and
// audiences.
func TestServe_TellsMachinesApart(t *testing.T) {
	t.Parallel()
	s, issuer := machineServer(t)
	o := &outside{t, demo.Ready{API: s.url}}
	post := func(path, account, audience string) int {
		t.Helper()
		token := issuer.Sign(tokentest.Machine(issuer.URL, account+"@p.iam.gserviceaccount.com", audience, time.Now()))
		return o.do("POST", s.url+path, "Bearer "+token, nil).status
	}
	const ours, public = "https://audience.example.org", "https://quests.example.org"
	for _, row := range []struct {
		path, account, audience string
		status                  int
	}{
		// There is no such kind: the task ends, and a drain of a version that has the kind finds its entry.
		{"/tasks/of-before", "tasks", ours, 200},
		{"/tasks/of-before", "tasks", public + "/tasks/of-before", 401},
		{"/tasks/of-before", "clock", ours, 401},
		// Cloud Tasks cannot be reached, so nothing that is due is woken. A job is recorded, and
		// left to the drain.
		{"/jobs/drain", "clock", ours, 503},
		{"/jobs/drain", "events", public, 503},
		{"/jobs/drain", "clock", public + "/jobs/drain", 503},
		{"/admin/renew-expiring-channels", "clock", public + "/admin/renew-expiring-channels", 202},
		{"/jobs/drain", "tasks", ours, 401},
		{"/jobs/drain", "clock", "https://elsewhere.example.org", 401},
		{"/jobs/unknown", "clock", ours, 404},
	} {
		if got := post(row.path, row.account, row.audience); got != row.status {
			t.Errorf("%s by %s for %s: %d, want %d", row.path, row.account, row.audience, got, row.status)
		}
	}
	if got := issuer.Fetched(); got != 1 {
		t.Errorf("the keys were fetched %d times", got)
	}
}

// TestServe_RefusesEveryForgedMachine tries every kind of forged token at every machine
// route.
func TestServe_RefusesEveryForgedMachine(t *testing.T) {
	t.Parallel()
	s, issuer := machineServer(t)
	o := &outside{t, demo.Ready{API: s.url}}
	now := time.Now()
	for account, paths := range map[string][]string{
		"tasks": {"/tasks/look", "/tasks/of-before"}, "clock": slices.Concat(slices.Collect(maps.Values(webhooks.JobPaths))...),
	} {
		good := tokentest.Machine(issuer.URL, account+"@p.iam.gserviceaccount.com", "https://audience.example.org", now)
		for what, token := range issuer.Forged(good, now) {
			for _, path := range paths {
				if got := o.do("POST", s.url+path, "Bearer "+token, nil); got.status != 401 ||
					at(got.body, "error", "detail", "reason") != "token_refused" {
					t.Errorf("%s, %s: %d %v", path, what, got.status, got.body)
				}
			}
		}
	}
}
