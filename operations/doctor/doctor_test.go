package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/internal/config"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

// opened is a program whose parts answer as its fields say.
type opened struct {
	documents store.Reader
	unindexed []string
	paused    []string
	failure   error // of Firestore and of Cloud Tasks
	closed    int
}

func (o *opened) Firestore(context.Context) (Database, error) {
	return firestoreOf{o.documents, o}, nil
}
func (o *opened) File(context.Context) (DataFile, error) { return nil, errors.New("there is none") }
func (o *opened) Tasks(context.Context) (Tasks, error)   { return tasksOf{o}, nil }
func (o *opened) SecondAddresses() (mappings.Source, Delegate, error) {
	return nil, nil, errors.New("there is no key")
}

type firestoreOf struct {
	store.Reader
	of *opened
}

func (firestoreOf) Database() string { return "projects/p" }
func (f firestoreOf) Unindexed(context.Context, time.Duration) ([]string, error) {
	return f.of.unindexed, f.of.failure
}

func (f firestoreOf) Close() error {
	f.of.closed++
	return nil
}

type tasksOf struct{ of *opened }

func (t tasksOf) Waiting(context.Context) (int, error)     { return 3, t.of.failure }
func (t tasksOf) Paused(context.Context) ([]string, error) { return t.of.paused, nil }
func (t tasksOf) Close() error {
	t.of.closed++
	return nil
}

// Each row is a deployment on Firestore and Cloud Tasks, and lines of its report.
func TestReport_OfADeployment_SaysWhatItsPartsAnswer(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		program opened
		change  func(*config.Config)
		wrongs  string
		says    []string
	}{
		"all is well": {opened{}, nil, "", []string{
			"ok       store           projects/p answers\n", "ok       indexes         every query has its index\n",
			"ok       queue           projects/p/queues/quests-… answer for each kind of tasks; 3 tasks wait\n",
			"ok       redirect URI    in the Google Cloud console, under Credentials, the OAuth client has to name https://q.example/callback as",
			"ok       public address  Google pushes to https://q.example/push; from outside, curl -X POST https://q.example/push is",
			"ok       machines        1 may start",
		}},
		"indexes are missing": {opened{unindexed: []string{"a", "b"}}, nil, "1 of these lines", []string{
			"wrong    indexes         there is none for: a; b. Deploy firestore.indexes.json",
		}},
		"queues are paused": {opened{paused: []string{"sync", "watch"}}, nil, "1 of these lines", []string{
			"wrong    queue           nothing is done of the kinds whose queues are paused or disabled: sync, watch; " +
				"gcloud tasks queues resume quests-sync\n",
		}},
		"nothing answers": {opened{failure: errors.New("no answer")}, nil, "2 of these lines", []string{
			"wrong    store           projects/p: no answer\n", "wrong    queue           no answer\n",
		}},
		"nobody starts the jobs": {opened{}, func(cfg *config.Config) { cfg.MachineAccounts = nil }, "1 of these lines", []string{
			"wrong    machines        nobody may start the timers' jobs",
		}},
		"the key of second addresses is none": {opened{}, func(cfg *config.Config) { cfg.AttendeesSheet = "s" }, "1 of these lines", []string{
			"wrong    attendees       there is no key\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents, err := memorystore.Open(nil)
			if err != nil {
				t.Fatal(err)
			}
			row.program.documents = documents
			cfg := config.Default()
			cfg.Store, cfg.FirestoreProject = config.StoreFirestore, "p"
			cfg.Queue, cfg.CloudTasksQueue, cfg.MachineAccounts = config.QueueCloudTasks, "projects/p/queues/quests", []string{"clock"}
			cfg.PublicURL, cfg.GoogleClientID, cfg.Sync = "https://q.example", "1-a.apps.googleusercontent.com", config.SyncOn
			if row.change != nil {
				row.change(&cfg)
			}
			d := Doctor{
				Config: cfg, Now: time.Now, Program: &row.program, Redirect: cfg.PublicURL + "/callback", PushPath: "/push",
			}
			var report strings.Builder
			err = d.Report(t.Context(), &report)
			if (err == nil) != (row.wrongs == "") || err != nil && !strings.HasPrefix(err.Error(), row.wrongs) {
				t.Errorf("it ends with %v", err)
			}
			for _, want := range row.says {
				if !strings.Contains(report.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, &report)
				}
			}
			if row.program.closed < 3 { // of the store, of the timers, of the queues
				t.Errorf("%d of what it opened was closed", row.program.closed)
			}
		})
	}
}

// A setting with a problem is reported once, and what it names is not tried.
func TestReport_OfSettingsWithProblems_TriesNoneOfThem(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Store, cfg.FirestoreProject, cfg.EncKeys = config.StoreFirestore, "p", config.NewSecret("k1:none")
	d := Doctor{Config: cfg, Now: time.Now, Program: &opened{}, Problems: config.Problems{
		{Name: "QS_FIRESTORE_PROJECT", Fix: "has to name a project"}, {Name: "QS_ENC_KEYS_FILE", Fix: "has to name a file"},
	}}
	var report strings.Builder
	if err := d.Report(t.Context(), &report); err == nil || !strings.HasPrefix(err.Error(), "2 of these lines") {
		t.Errorf("it ends with %v", err)
	}
	if said := report.String(); !strings.HasPrefix(said, "wrong    settings        QS_FIRESTORE_PROJECT has to name a project\n") ||
		strings.Contains(said, " store ") || strings.Contains(said, " encryption keys ") {
		t.Errorf("it says:\n%s", said)
	}
}
