package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"questscheduler/internal/config"
	"questscheduler/internal/store"
	"questscheduler/operations/health"
	"questscheduler/web-hooks/documentchanges"
	"questscheduler/web-hooks/timers"
)

// checkClock checks that Cloud Scheduler starts the timers' jobs and that document
// changes arrive. Only these effects show whether the setup works.
func checkClock(ctx context.Context, d Doctor) []finding {
	switch {
	case d.Config.Queue != config.QueueCloudTasks || d.Config.CloudTasksEndpoint != "":
		return nil // the server keeps the time itself
	case d.Config.Store == config.StoreFirestore &&
		(!d.isSet("QS_FIRESTORE_PROJECT", d.Config.FirestoreProject) || d.faulty("QS_FIRESTORE_ENDPOINT")):
		return nil
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	documents, err := d.documents(patient)
	if err != nil {
		return nil // which checkStore reports
	}
	found, err := d.arrived(patient, documents)
	err = errors.Join(err, documents.Close())
	if err != nil {
		return []finding{{wrong, "timers", err.Error()}}
	}
	return found
}

func (d Doctor) documents(ctx context.Context) (Documents, error) {
	if d.Config.Store == config.StoreFirestore {
		return d.Program.Firestore(ctx)
	}
	return d.Program.File(ctx)
}

func (d Doctor) arrived(ctx context.Context, documents store.Reader) ([]finding, error) {
	jobs, err := health.ReadJobs(ctx, documents, d.jobs(), d.Now(), 0)
	if err != nil {
		return nil, err
	}
	var found []finding
	for _, job := range jobs {
		if says := lateness(job); says != "" {
			found = append(found, finding{warning, "timers", says})
		}
	}
	if len(found) == 0 {
		found = []finding{{fine, "timers", "each job ran when it was due"}}
	}
	if d.Config.Sync == config.SyncOff {
		return found, nil // changes of documents are not followed
	}
	heard, err := documentchanges.LastActivity(ctx, documents)
	if err != nil {
		return nil, err
	}
	return append(found, d.checkDocumentChanges(heard)), nil
}

// jobs are those that the server has, to be looked up and not run.
func (d Doctor) jobs() []timers.Job {
	step := func(context.Context, timers.Run) (timers.Stretch, error) { return timers.Stretch{}, nil }
	parts := timers.Parts{FallbackEvery: d.Config.FallbackEvery, NoSync: d.Config.Sync == config.SyncOff, Reconcile: step, Health: step}
	if d.Config.AttendeesOn() {
		parts.RefreshMappings = step
	}
	return timers.Jobs(parts)
}

// lateness says what is wrong with the runs of a job; "" if nothing is.
func lateness(job health.Job) string {
	ask := fmt.Sprintf(
		"ask Cloud Scheduler how its last call ended: gcloud scheduler jobs describe questscheduler-%s (PERMISSION_DENIED or 401: "+
			"the audience or QS_MACHINE_ACCOUNTS is not what its token says)",
		job.Name,
	)
	failing := ""
	if job.Failure != "" {
		failing = fmt.Sprintf(", and failed (%s) at %s", job.Failure, clock(job.FailedAt))
	}
	switch {
	case job.StartedAt.IsZero():
		return fmt.Sprintf("%s never ran, and is to come every %s; where that time is over, %s", job.Name, job.Every, ask)
	case job.Late:
		return fmt.Sprintf("%s last ran at %s%s, and is to come every %s; %s", job.Name, clock(job.StartedAt), failing, job.Every, ask)
	case job.Unfinished:
		ended := "and none came to its end yet"
		if !job.SucceededAt.IsZero() {
			ended = "and the last that came to its end did so at " + clock(job.SucceededAt)
		}
		return fmt.Sprintf("%s last began at %s%s, %s; the server's log says why", job.Name, clock(job.StartedAt), failing, ended)
	default:
		return ""
	}
}

// checkDocumentChanges reports when a document change last arrived. Long ago is no
// fault: perhaps nobody wrote a poll.
func (d Doctor) checkDocumentChanges(heard documentchanges.Activity) finding {
	listens := d.Config.DocumentChanges == config.ChangesListen
	switch {
	case listens && heard.ListensUntil.After(d.Now()):
		return finding{fine, "hints", "an instance listens to the documents"}
	case listens:
		return finding{
			warning, "hints",
			"no instance listens to the documents, though QS_DOCUMENT_HINTS is listen; see that one runs all the time",
		}
	case heard.ChangedAt.IsZero():
		return finding{warning, "hints",
			"Eventarc never delivered a document change; change a poll in the app and ask again. If this stays: gcloud eventarc " +
				"triggers describe questscheduler-documents, " +
				"and a 401 for /webhooks/documents in the log says that QS_TASKS_AUDIENCE is not the service's own address"}
	default:
		return finding{
			fine, "hints",
			"Eventarc last delivered a document change at " + clock(heard.ChangedAt) +
				"; if polls were written long after that, it no longer delivers",
		}
	}
}

func clock(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 MST") }
