package webhooks_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/fault"
	"questscheduler/internal/signin"
	"questscheduler/internal/test/tokentest"
	webhooks "questscheduler/web-hooks"
)

// The machine of the tests, and whom its tokens are for.
const (
	account  = "clock@quest-party.iam.gserviceaccount.com"
	audience = "https://api.party.example"
)

// asked keeps which jobs were handed over.
type asked struct {
	jobs []string
	err  error
}

// HandOver implements webhooks.Jobs.
func (a *asked) HandOver(_ context.Context, name string) error {
	if a.err == nil {
		a.jobs = append(a.jobs, name)
	}
	return a.err
}

// machineGate is the routes of machines, whose tokens an issuer signs.
type machineGate struct {
	t      *testing.T
	issuer *tokentest.Issuer
	echo   *echo.Echo
	jobs   *asked
	tasks  *delivered
	body   string // of what is asked
}

// delivered keeps the tasks that were let through, and answers as configured.
type delivered struct {
	bodies []string
	status int
	after  time.Duration
}

// Deliver implements webhooks.Tasks.
func (d *delivered) Deliver(_ context.Context, kind string, header http.Header, body []byte) (int, time.Duration) {
	d.bodies = append(d.bodies, kind+" "+header.Get("X-CloudTasks-QueueName")+" "+string(body))
	return d.status, d.after
}

// newMachineGate lets account in by tokens of its issuer for audience.
func newMachineGate(t *testing.T) *machineGate {
	t.Helper()
	return newMachineGateWith(t, api.Rate{PerSecond: 1, Burst: 1 << 20}, slog.New(slog.DiscardHandler))
}

func newMachineGateWith(t *testing.T, rate api.Rate, log *slog.Logger) *machineGate {
	t.Helper()
	g := &machineGate{t: t, issuer: tokentest.NewIssuer(t), jobs: &asked{}, tasks: &delivered{status: http.StatusOK}}
	g.echo = api.New(api.Options{
		Now: now, NewID: func(prefix string) string { return prefix + "_1" }, Log: log, AddressRate: rate,
	})
	webhooks.RegisterJobs(g.echo, g.machines(account), g.jobs)
	webhooks.RegisterTasks(g.echo, g.machines(account), g.tasks)
	return g
}

// machines are the verifier of the gate.
func (g *machineGate) machines(accounts ...string) *signin.Machines {
	return signin.NewMachines(signin.MachineOptions{
		Keys: signin.NewIssuerKeys(g.issuer.URL, http.DefaultClient, now), Issuers: []string{g.issuer.URL},
		Audiences: []string{audience}, Accounts: accounts, Now: now,
	})
}

// good are the claims of the machine's token.
func (g *machineGate) good() tokentest.Claims {
	return tokentest.Machine(g.issuer.URL, account, audience, now())
}

// post asks with Authorization headers.
func (g *machineGate) post(path string, authorization ...string) *httptest.ResponseRecorder {
	g.t.Helper()
	request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(g.body))
	request.Header["Authorization"] = authorization
	// What anybody can say of themselves.
	request.Header.Set("X-CloudScheduler", "true")
	request.Header.Set("X-CloudTasks-QueueName", "intent")
	recorder := httptest.NewRecorder()
	g.echo.ServeHTTP(recorder, request)
	return recorder
}

// jobPaths are all of webhooks.JobPaths.
func jobPaths() []string {
	return slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(webhooks.JobPaths))...)))
}

func TestJobs_RequestedByTheirMachine_AreHandedOver(t *testing.T) {
	t.Parallel()
	for name, paths := range webhooks.JobPaths {
		for _, path := range paths {
			g := newMachineGate(t)
			got := g.post(path, "Bearer "+g.issuer.Sign(g.good()))
			if got.Code != http.StatusAccepted || got.Body.Len() != 0 || !slices.Equal(g.jobs.jobs, []string{name}) {
				t.Errorf("%s: answered %d %s, and %v was handed over", path, got.Code, got.Body, g.jobs.jobs)
			}
		}
	}
}

// TestMachineRoutes_ForgedTokens_HaveTheSameAnswer tries every kind at
// every route.
func TestMachineRoutes_ForgedTokens_HaveTheSameAnswer(t *testing.T) {
	t.Parallel()
	g := newMachineGate(t)
	forged := g.issuer.Forged(g.good(), now())
	forged["a person's"] = g.issuer.Sign(tokentest.Person("quest-party", "gm", now()))
	forged["another machine's"] = g.issuer.Sign(g.good().With(tokentest.Claims{"email": "other@quest-party.iam.gserviceaccount.com"}))
	forged["of an address that is not verified"] = g.issuer.Sign(g.good().With(tokentest.Claims{"email_verified": false}))
	first := ""
	for _, path := range append(jobPaths(), "/tasks/intent") {
		for what, token := range forged {
			got := g.post(path, "Bearer "+token)
			answer, _, _ := strings.Cut(got.Body.String(), `"meta"`)
			if first == "" {
				first = answer
			}
			if got.Code != http.StatusUnauthorized || answer != first || got.Header().Get("WWW-Authenticate") == "" ||
				!strings.Contains(answer, "AUTH_REQUIRED") {
				t.Errorf("%s, %s: answered %d %s, another got %s", path, what, got.Code, got.Body, first)
			}
		}
	}
	good := "Bearer " + g.issuer.Sign(g.good())
	for what, headers := range map[string][]string{
		"no token": nil, "an empty one": {""}, "two": {good, good}, "a good one behind another": {"Bearer x", good},
		"another scheme": {"Basic " + good},
	} {
		if got := g.post("/jobs/drain", headers...); got.Code != http.StatusUnauthorized {
			t.Errorf("%s: answered %d", what, got.Code)
		}
	}
	if len(g.jobs.jobs)+len(g.tasks.bodies) > 0 {
		t.Errorf("%v was handed over, %v delivered", g.jobs.jobs, g.tasks.bodies)
	}
}

func TestTasks_AreDelivered_AndAnsweredAsTheQueueSays(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status int
		after  time.Duration
		header string
	}{{200, 0, ""}, {503, 30 * time.Second, "30"}, {503, time.Millisecond, "1"}, {429, 1500 * time.Millisecond, "2"}} {
		g := newMachineGate(t)
		g.tasks.status, g.tasks.after, g.body = row.status, row.after, "\xff{"
		got := g.post("/tasks/intent", "Bearer "+g.issuer.Sign(g.good()))
		if got.Code != row.status || got.Header().Get("Retry-After") != row.header || got.Body.Len() != 0 {
			t.Errorf("answered %d %v %s, want %+v", got.Code, got.Header(), got.Body, row)
		}
		if !slices.Equal(g.tasks.bodies, []string{"intent intent \xff{"}) {
			t.Errorf("%q was delivered", g.tasks.bodies)
		}
	}
}

func TestTasks_TooLargeToBeOurs_AreRefused(t *testing.T) {
	t.Parallel()
	g := newMachineGate(t)
	g.body = strings.Repeat("x", 1501)
	if got := g.post("/tasks/intent", "Bearer "+g.issuer.Sign(g.good())); got.Code != http.StatusRequestEntityTooLarge ||
		len(g.tasks.bodies) > 0 {
		t.Errorf("answered %d, and %d were delivered", got.Code, len(g.tasks.bodies))
	}
}

func TestJobs_NotHandedOver_Are503(t *testing.T) {
	t.Parallel()
	g := newMachineGate(t)
	g.jobs.err = fault.New(fault.Unavailable, "The queue does not answer.")
	got := g.post("/jobs/drain", "Bearer "+g.issuer.Sign(g.good()))
	if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
		t.Errorf("answered %d %v", got.Code, got.Header())
	}
}

func TestMachines_KeysUnavailable_Are503(t *testing.T) {
	t.Parallel()
	g := newMachineGate(t)
	token := g.issuer.Sign(g.good())
	g.issuer.SetDown(true)
	if got := g.post("/jobs/drain", "Bearer "+token); got.Code != http.StatusServiceUnavailable || len(g.jobs.jobs) > 0 {
		t.Errorf("answered %d, and %v was handed over", got.Code, g.jobs.jobs)
	}
}

func TestMachineOf_ValidToken_IsItsMachine(t *testing.T) {
	t.Parallel()
	g := newMachineGate(t)
	var who signin.Machine
	g.echo.POST("/probe", func(c echo.Context) error {
		who = webhooks.MachineOf(c)
		return c.NoContent(http.StatusOK)
	}, webhooks.OnlyMachines(g.machines("other@p.example", account)))
	if got := g.post("/probe", "Bearer "+g.issuer.Sign(g.good())); got.Code != http.StatusOK || who.Email != account {
		t.Errorf("answered %d to %+v", got.Code, who)
	}
}
