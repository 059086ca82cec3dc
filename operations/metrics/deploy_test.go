package metrics_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"questscheduler/attendees"
	"questscheduler/internal/outbox"
	"questscheduler/internal/test/docs"
	"questscheduler/mirrors"
	"questscheduler/web-hooks/timers"
)

// The files that others read: the rules of alerts and the board.
const (
	alertsFile = "deploy/alerts.yaml"
	boardFile  = "deploy/grafana.json"
	operations = "docs/operations.md"
	alertsPage = "docs/alerts.md"
)

// rule is one alert.
type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) (rules []rule) {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []rule }
	}
	if err := yaml.Unmarshal([]byte(docs.Read(t, alertsFile)), &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	if len(rules) == 0 {
		t.Fatal("there is no alert")
	}
	return rules
}

// expressions are all that the two files ask Prometheus, by where it stands.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	asked := map[string]string{}
	for _, rule := range alerts(t) {
		asked[alertsFile+" "+rule.Alert] = rule.Expr
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(docs.Read(t, boardFile)), &board); err != nil {
		t.Fatal(err)
	}
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			asked[boardFile+" "+panel.Title+" "+target.Expr] = target.Expr
		}
	}
	return asked
}

// known are the figures of the program: the values that each label has, by name.
func known(t *testing.T) map[string]map[string][]string {
	t.Helper()
	w := newWorld(t)
	for _, kind := range workKinds(t) {
		w.depths = append(w.depths, outbox.Depth{Kind: kind})
	}
	w.figures.Attendees.On = true
	for _, job := range []string{timers.RenewWatches, timers.PollFallback, timers.Cleanup, timers.Health} {
		w.records = append(w.records, timers.Record{Job: job, SucceededAt: start.Add(-time.Minute)})
	}
	families, err := w.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	figures := map[string]map[string][]string{}
	for _, family := range families {
		labels := map[string][]string{}
		for _, series := range family.GetMetric() {
			for _, label := range series.GetLabel() {
				labels[label.GetName()] = append(labels[label.GetName()], label.GetValue())
			}
		}
		names := []string{family.GetName()}
		if family.GetType().String() == "HISTOGRAM" {
			names = []string{family.GetName() + "_bucket", family.GetName() + "_sum", family.GetName() + "_count"}
			labels["le"] = nil
		}
		for _, name := range names {
			figures[name] = labels
		}
	}
	return figures
}

// workKinds are the kinds of work of the program: each has a queue.
func workKinds(t *testing.T) (kinds []string) {
	t.Helper()
	for line := range strings.Lines(docs.Read(t, "deploy/queues.txt")) {
		if name := strings.Fields(line); len(name) > 0 && name[0] != "#" {
			kinds = append(kinds, name[0])
		}
	}
	if len(kinds) < 10 {
		t.Fatalf("there are only %d queues", len(kinds))
	}
	return kinds
}

var (
	selector = regexp.MustCompile(`(questscheduler_\w+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
	grouping = regexp.MustCompile(`by \(([^)]*)\)`)
)

// faults are what an expression asks for that the program does not have.
func faults(expr string, figures map[string]map[string][]string) (faults []string) {
	labels := map[string]bool{}
	for _, found := range selector.FindAllStringSubmatch(expr, -1) {
		has, exists := figures[found[1]]
		if !exists {
			faults = append(faults, "there is no figure "+found[1])
			continue
		}
		for name := range has {
			labels[name] = true
		}
		for _, match := range matcher.FindAllStringSubmatch(found[2], -1) {
			values, exists := has[match[1]]
			if !exists {
				faults = append(faults, found[1]+" has no label "+match[1])
			}
			for value := range strings.SplitSeq(match[3], "|") {
				if exists && !slices.Contains(values, value) {
					faults = append(faults, match[1]+" of "+found[1]+" is never "+value)
				}
			}
		}
	}
	for _, found := range grouping.FindAllStringSubmatch(expr, -1) {
		for name := range strings.SplitSeq(found[1], ",") {
			name = strings.TrimSpace(name)
			if !labels[name] {
				faults = append(faults, "no figure in it has the label "+name)
			}
		}
	}
	if len(labels) == 0 && !strings.Contains(expr, "questscheduler_") {
		faults = append(faults, "it asks for no figure of ours")
	}
	return faults
}

func TestAlertsAndBoard_AskForFiguresThatThereAre(t *testing.T) {
	t.Parallel()
	figures := known(t)
	for where, expr := range expressions(t) {
		for _, fault := range faults(expr, figures) {
			t.Errorf("%s: %s", where, fault)
		}
	}
}

func TestFaults_OfAnExpression_AreFound(t *testing.T) {
	t.Parallel()
	figures := known(t)
	for expr, want := range map[string]string{
		`max(questscheduler_nothing)`:                        "there is no figure questscheduler_nothing",
		`questscheduler_work_failing{colour="red"}`:          "questscheduler_work_failing has no label colour",
		`questscheduler_syncs_total{hint=~"push|telepathy"}`: "hint of questscheduler_syncs_total is never telepathy",
		`sum by (poll) (questscheduler_syncs_total)`:         "no figure in it has the label poll",
		`up`:                          "it asks for no figure of ours",
		`questscheduler_sync_seconds`: "there is no figure questscheduler_sync_seconds",
		`sum by (le) (questscheduler_sync_seconds_bucket)`:                     "",
		`max_over_time(questscheduler_last_drain_timestamp_seconds[15m]) > 60`: "",
		`questscheduler_timer_failing{job="drain"}`:                            "job of questscheduler_timer_failing is never drain",
	} {
		if got := strings.Join(faults(expr, figures), "; "); got != want {
			t.Errorf("of %s it is said %q, want %q", expr, got, want)
		}
	}
}

// Each alert has a severity, a summary and a section on its repair, and the page has no
// section of a removed alert.
func TestEachAlert_HasItsRepairInOperations(t *testing.T) {
	t.Parallel()
	var explained []string
	for line := range strings.Lines(docs.Read(t, alertsPage)) {
		if name, is := strings.CutPrefix(line, "## "); is {
			explained = append(explained, strings.TrimSpace(name))
		}
	}
	var names []string
	for _, rule := range alerts(t) {
		names = append(names, rule.Alert)
		if !slices.Contains(explained, rule.Alert) {
			t.Errorf("%s has no section %s", alertsPage, rule.Alert)
		}
		if severity := rule.Labels["severity"]; severity != "page" && severity != "ticket" {
			t.Errorf("%s is of severity %q", rule.Alert, severity)
		}
		if rule.Annotations["summary"] == "" || rule.Annotations["runbook"] != alertsPage+"#"+strings.ToLower(rule.Alert) {
			t.Errorf("%s does not say what is the matter, or where its remedy is", rule.Alert)
		}
	}
	for _, section := range explained {
		if !slices.Contains(names, section) {
			t.Errorf("%s explains the alert %s, which does not exist", alertsPage, section)
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Error("an alert is there twice")
	}
}

// What is counted is of the instance that answers, so on Cloud Run an alert on it
// does not hold; the page names these, and no other.
func TestOperations_SayWhichAlertsHoldOnCloudRun(t *testing.T) {
	t.Parallel()
	_, section, found := strings.Cut(docs.Read(t, operations), "\n### On Cloud Run\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, counted, split := strings.Cut(section, "\n- **Counters**")
	if !found || !split {
		t.Fatalf("%s does not say what holds on Cloud Run", operations)
	}
	_, counted, _ = strings.Cut(counted, "such as a collector")
	counted, _, _ = strings.Cut(counted, "Otherwise leave")
	overTime := regexp.MustCompile(`\b(rate|increase)\(`)
	for _, rule := range alerts(t) {
		name := regexp.MustCompile(`\b` + rule.Alert + `\b`)
		if is := overTime.MatchString(rule.Expr); name.MatchString(counted) != is {
			t.Errorf("%s is counted: %t; the page says otherwise", rule.Alert, is)
		}
	}
}

// matched are the values that a matcher of a label lets through.
func matched(operator, pattern string, values []string) (through []string) {
	whole := regexp.MustCompile("^(?:" + pattern + ")$")
	for _, value := range values {
		fits := value == pattern
		if strings.HasSuffix(operator, "~") {
			fits = whole.MatchString(value)
		}
		if fits != strings.HasPrefix(operator, "!") {
			through = append(through, value)
		}
	}
	return through
}

// Whatever kind of work is stuck, somebody hears of it: by WorkOld, or by the alert of a kind
// whose quota spreads it over hours.
func TestWorkOld_CoversEachKindOfWork(t *testing.T) {
	t.Parallel()
	late := map[string]string{
		mirrors.WriteKind: "questscheduler_mirrors_oldest_due_seconds", attendees.Kind: "questscheduler_attendee_events_oldest_due_seconds",
	}
	kinds, rules := workKinds(t), alerts(t)
	i := slices.IndexFunc(rules, func(r rule) bool { return r.Alert == "WorkOld" })
	if i < 0 {
		t.Fatal("there is no alert WorkOld")
	}
	var covered []string
	for _, found := range selector.FindAllStringSubmatch(rules[i].Expr, -1) {
		through := kinds
		for _, match := range matcher.FindAllStringSubmatch(found[2], -1) {
			through = matched(match[2], match[3], through)
		}
		covered = append(covered, through...)
	}
	for _, kind := range kinds {
		other := slices.ContainsFunc(rules, func(r rule) bool { return late[kind] != "" && strings.Contains(r.Expr, late[kind]) })
		if !slices.Contains(covered, kind) && !other {
			t.Errorf("no alert tells of old work of the kind %s", kind)
		}
	}
}

// A share of few syncs is soon large: one deleted calendar must not raise an alert.
func TestSyncAlert_OneFailingCalendar_DoesNotFire(t *testing.T) {
	t.Parallel()
	rules := alerts(t)
	i := slices.IndexFunc(rules, func(r rule) bool { return r.Alert == "LooksFailing" })
	if i < 0 {
		t.Fatal(`alert "LooksFailing" is missing`)
	}
	several := regexp.MustCompile(`\band sum\(max by \(reason\) \(questscheduler_calendars_failing\{reason!="revoked"\}\)\) >= [2-9]`)
	if !several.MatchString(rules[i].Expr) {
		t.Errorf(`the expression of "LooksFailing" tests a share alone: %s`, rules[i].Expr)
	}
}
