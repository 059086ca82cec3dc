package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/labstack/echo/v4"

	"questscheduler/api/callables"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/config"
	"questscheduler/internal/test/docs"
)

// The pages of docs/ that need the wired program: its commands and its routes. `make
// generate` writes them.

func TestPage_Commands_IsCurrent(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(newCommandLine(), kong.Name("questscheduler"), kong.Vars{"version": ""}, kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString("# Commands\n\nOne binary, `questscheduler`. `questscheduler COMMAND --help` says more, with examples and the " +
		"[settings](settings.md) that the command reads. The exit code is 0 when it was done, 1 when it was tried and did not work, " +
		"2 on wrong use or wrong settings, when nothing was done.\n\nEvery `sweep` command does by hand " +
		"what a server does by the clock. " + strings.TrimSpace(aloneWithStore) + "\n")
	for _, command := range parser.Model.Leaves(true) {
		// kong's summary begins with the program's name and ends with [flags].
		summary := strings.TrimSuffix(command.Summary(), " [flags]")
		fmt.Fprintf(&page, "\n## `%s`\n\n%s\n", summary, oneLine(command.Help))
		if strings.HasPrefix(summary, "sweep ") && !strings.Contains(command.Detail, aloneWithStore) {
			t.Errorf("the help of %s does not say, as the page does of every sweep:%s", summary, aloneWithStore)
		}
		var rows []string
		for _, argument := range command.Positional {
			rows = append(rows, fmt.Sprintf("- `%s`: %s\n", argument.Summary(), oneLine(argument.Help)))
		}
		for _, flag := range command.Flags {
			rows = append(rows, fmt.Sprintf("- `--%s`%s: %s\n", flag.Name, defaultOf(flag), oneLine(flag.Help)))
		}
		if len(rows) > 0 {
			page.WriteString("\n" + strings.Join(rows, ""))
		}
	}
	docs.Check(t, "commands.md", page.String())
}

// aloneWithStore is what the help of every sweep says, and the page once.
const aloneWithStore = " Stop the server first: the command needs the store for itself. It can be interrupted and run again."

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func defaultOf(flag *kong.Flag) string {
	if !flag.HasDefault {
		return ""
	}
	return " (`" + flag.Default + "`)"
}

// machinesWho are the callers of the jobs, everyUser those of most routes.
const (
	machinesWho = "`QS_MACHINE_ACCOUNTS`"
	everyUser   = "signed in"
)

// jobOfTimers and operatorsPage describe all routes of a kind.
var (
	jobOfTimers = [2]string{
		machinesWho, "What [`questscheduler sweep`](commands.md) does by hand; `health` checks linked accounts. " +
			"`deploy/jobs.txt` has when each is due",
	}
	operatorsPage = [2]string{
		"admins; others can only sign in", "[The operator's page](operations.md#a-tour-of-the-dashboard), what it loads, and its forms",
	}
	// sharedNames are what the page calls all routes of a kind.
	sharedNames = map[[2]string]string{jobOfTimers: "`POST /jobs/{job}`", operatorsPage: "`/dashboard` and below"}
)

// outsideDocument are the routes that the OpenAPI document leaves out, since no client
// program calls them. Each says who may call it and what it does.
var outsideDocument = map[string][2]string{
	"GET /openapi.json": {"everybody", "The OpenAPI 3.1 document of the routes above"},
	"GET /docs":         {"everybody", "That document as a page"},
	"GET /metrics": {
		"admins; `QS_METRICS_TOKEN`; callers on this machine, where `QS_PUBLIC_URL` names no other",
		"The figures, as Prometheus reads them: [operations.md](operations.md)",
	},
	"GET /oauth/google/start": {
		"the person of the ticket, or of the token",
		"On to Google's consent page",
	},
	"GET /oauth/google/callback": {
		"the browser that began, or the token of the person who did",
		"Back from Google: the account is linked, or a page says why not and how to go on",
	},
	"GET /oauth/google/linked": {"everybody", "How that ended, where no web app says it"},
	"GET /feeds/:secret.ics": {
		"anybody with the address, which `POST /v1/feed` gives", "A person's sessions as an iCalendar file: [feed.md](feed.md)",
	},
	"HEAD /feeds/:secret.ics": {"the same", "Its headers"},
	"POST /webhooks/documents": {
		machinesWho,
		"A CloudEvent of Eventarc: a poll's document, slot or vote changed, and the poll is checked",
	},
	"POST /webhooks/google/calendar": {"Google, by channel id and token", "A push: a sync is handed over"},
	"POST /api/calendarWebhook":      {"Google, by channel id and token", "A push, for channels of older deployments"},
	"POST /calendarWebhook":          {"Google, by channel id and token", "A push, for channels of older deployments"},

	"POST /jobs/drain":                      jobOfTimers,
	"POST /jobs/renew-watches":              jobOfTimers,
	"POST /jobs/poll-fallback":              jobOfTimers,
	"POST /jobs/plan-upcoming":              jobOfTimers,
	"POST /jobs/cleanup":                    jobOfTimers,
	"POST /jobs/health":                     jobOfTimers,
	"POST /jobs/reconcile-mirrors":          jobOfTimers,
	"POST /jobs/refresh-mappings":           jobOfTimers,
	"POST /admin/renew-expiring-channels":   {machinesWho, "The same as /jobs/renew-watches"},
	"GET /dashboard":                        operatorsPage,
	"GET /dashboard/page.css":               operatorsPage,
	"GET /dashboard/page.js":                operatorsPage,
	"GET /dashboard/icon.svg":               operatorsPage,
	"POST /dashboard/sign-in":               operatorsPage,
	"POST /dashboard/sign-out":              operatorsPage,
	"POST /dashboard/tasks/retry":           operatorsPage,
	"POST /dashboard/cancellations/confirm": operatorsPage,
	"POST /dashboard/watches/register":      operatorsPage,
	"POST /tasks/:kind": {
		"`QS_TASKS_SERVICE_ACCOUNT`",
		"A task of Cloud Tasks: [its answers](deployment.md#answers-to-cloud-tasks)",
	},
}

func TestPage_API_IsCurrent(t *testing.T) {
	t.Parallel()
	edge := wiredEdge(t)
	described := describedRoutes(t, edge)
	var page strings.Builder
	page.WriteString("# Routes\n\nEvery answer is an envelope: `{ok, data | error{code, message, detail}, meta{request_id, " +
		"timestamp, next_cursor}}`. Times are RFC 3339 in UTC. The running program serves at `/docs` and `/openapi.json` what each " +
		"route takes, does and answers. After each route stands who may call it, unless that is every user who is signed in.\n\n")
	page.WriteString(routeRows(slices.Sorted(maps.Keys(described)), turned, described))
	page.WriteString("\n## Other routes\n\nThese are not in that document: what machines call, the pages, and the documents " +
		"themselves. Google's services prove who calls by an OIDC token.\n\n")
	there := map[string]bool{}
	for _, route := range edge.Routes() {
		name := route.Method + " " + route.Path
		if route.Method == echo.RouteNotFound {
			continue
		}
		there[name] = true
		if _, ok := described[sortable(route.Method, openAPIPath(route.Path))]; ok {
			continue
		}
		if _, ok := outsideDocument[name]; !ok {
			t.Errorf(
				"route %s is neither in the OpenAPI document nor in outsideDocument of this test: say there who may call it and what it does",
				name,
			)
		}
	}
	for _, route := range slices.Sorted(maps.Keys(outsideDocument)) {
		if !there[route] {
			t.Errorf("outsideDocument has %s, which is no route of the program", route)
		}
	}
	page.WriteString(routeRows(slices.Sorted(maps.Keys(outsideDocument)), func(route string) string { return route }, outsideDocument))
	page.WriteString("\n## The web app's calls\n\nFirebase callables, `POST /{name}` and `POST /{project}/{region}/{name}`: " +
		"`{\"data\": …}` with a person's token, answered with `{\"result\": …}` or `{\"error\": {\"status\", \"message\"}}`. " +
		"`GET " + callables.PathCallback + "` is `/oauth/google/callback` under the app's old name.\n\n")
	fmt.Fprintf(&page, "- Answered here: `%s`.\n", strings.Join(callables.Names, "`, `"))
	fmt.Fprintf(&page, "- Passed on to `QS_CALLABLES_UPSTREAM`; without it answered here with nothing to do: `%s`.\n",
		strings.Join(callables.Shared, "`, `"))
	page.WriteString("- All other names are passed on, too; without the setting they are `NOT_FOUND`.\n")
	docs.Check(t, "api.md", page.String())
}

// routeRows are a list of routes, with who may call each and what it does. Routes of which both are the same share a row.
func routeRows(routes []string, name func(route string) string, about map[string][2]string) string {
	names := map[[2]string][]string{}
	var order [][2]string
	for _, route := range routes {
		if names[about[route]] == nil {
			order = append(order, about[route])
		}
		names[about[route]] = append(names[about[route]], "`"+name(route)+"`")
	}
	var rows strings.Builder
	for _, of := range order {
		shown := cmp.Or(sharedNames[of], strings.Join(names[of], ", "))
		if of[0] != everyUser {
			shown += " (" + of[0] + ")"
		}
		fmt.Fprintf(&rows, "- %s: %s\n", shown, oneLine(of[1]))
	}
	return rows.String()
}

// sortable names a route so that those of one path sort together.
func sortable(method, path string) string { return path + " " + method }

// turned is a sortable name in the usual order.
func turned(name string) string {
	path, method, _ := strings.Cut(name, " ")
	return method + " " + path
}

// openAPIPath is a path of Echo's in OpenAPI's form: /a/:id is /a/{id}.
func openAPIPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// TestPage_OpenAPI_IsCurrent: the document that the program serves at /openapi.json,
// for client authors and `make openapi`, without the program's version.
func TestPage_OpenAPI_IsCurrent(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	wiredEdge(t).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil))
	var document map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	document["info"].(map[string]any)["version"] = "1"
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	docs.CheckFile(t, "docs/openapi.json", string(text)+"\n")
}

// furtherDetail is what follows the first statement of a summary.
var furtherDetail = regexp.MustCompile(`(?:; |\. |: [^)]*$|, (?:and|or|with) ).*`)

// describedRoutes are the caller and the purpose of each route of the OpenAPI document.
func describedRoutes(t *testing.T, edge http.Handler) map[string][2]string {
	t.Helper()
	answer := httptest.NewRecorder()
	edge.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil))
	var document struct {
		Paths map[string]map[string]struct {
			Summary  string   `json:"summary"`
			Audience []string `json:"x-audience"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	routes := map[string][2]string{}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			if operation.Summary == "" || len(operation.Audience) == 0 {
				t.Errorf("%s %s has no description", method, path)
			}
			who := strings.Join(operation.Audience, ", ")
			switch {
			case slices.Contains(operation.Audience, "anonymous"):
				who = "everybody"
			case slices.Contains(operation.Audience, "stranger"):
				who = everyUser
			}
			routes[sortable(strings.ToUpper(method), path)] = [2]string{who, furtherDetail.ReplaceAllString(operation.Summary, "")}
		}
	}
	return routes
}

var (
	commandCall = regexp.MustCompile("(?m)(?:^\\s*|`|\\$\\(|/)questscheduler ([a-z][a-z-]*)((?: [a-z-]+)?)")
	routeCall   = regexp.MustCompile(`/v1/[\w/{}$.…-]*`)
)

// TestPages_NameOnlyCommandsThatExist: a page that names a renamed command is out of
// date.
func TestPages_NameOnlyCommandsThatExist(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(newCommandLine(), kong.Name("questscheduler"), kong.Vars{"version": ""}, kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, command := range parser.Model.Leaves(true) {
		for node := command; node != nil && node.Type == kong.CommandNode; node = node.Parent {
			known[node.Name] = true
		}
	}
	for _, page := range writtenPages() {
		for _, call := range commandCall.FindAllStringSubmatch(docs.Read(t, page), -1) {
			if !known[call[1]] {
				t.Errorf("%s names the command %q, which does not exist", page, call[0])
			}
		}
	}
}

// TestPages_NameOnlyRoutesThatExist: the same for routes below /v1.
func TestPages_NameOnlyRoutesThatExist(t *testing.T) {
	t.Parallel()
	var known [][]string
	for route := range describedRoutes(t, wiredEdge(t)) {
		path, _, _ := strings.Cut(route, " ")
		known = append(known, strings.Split(path, "/"))
	}
	for _, page := range writtenPages() {
		for _, call := range routeCall.FindAllString(docs.Read(t, page), -1) {
			parts := strings.Split(strings.TrimRight(call, "./"), "/")
			if !slices.ContainsFunc(known, func(route []string) bool { return slices.EqualFunc(parts, route, samePart) }) {
				t.Errorf("%s names the route %s, which does not exist", page, call)
			}
		}
	}
}

// samePart compares a part of a path in a page, which may be a shell variable, with
// that of a route.
func samePart(written, route string) bool {
	return written == route || strings.HasPrefix(route, "{") && written != ""
}

// writtenPages are the pages that are not generated, below the top folder.
func writtenPages() []string {
	return []string{
		"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md", "docs/development.md", "docs/decisions.md",
		"docs/operations.md", "docs/alerts.md",
	}
}

// wiredEdge is the program's HTTP side, as serve and demo wire it.
func wiredEdge(t *testing.T) *echo.Echo {
	t.Helper()
	key, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Demo()
	cfg.SQLitePath = filepath.Join(t.TempDir(), "data.db")
	cfg.EncKeys = config.NewSecret(string(key))
	// What is reached by more routes: nothing is asked before a task is.
	cfg.Queue, cfg.CloudTasksQueue, cfg.CloudTasksEndpoint = config.QueueCloudTasks, "projects/p/locations/l/queues/q", "127.0.0.1:1"
	s, err := openProgram(context.Background(), cfg, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.closeStores(); err != nil {
			t.Error(err)
		}
	})
	return s.edge
}
