package doctor

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"questscheduler/internal/config"
)

// checkWork says what wakes the work that is due, unless checkCloudTasks does.
func checkWork(_ context.Context, d Doctor) []finding {
	if d.faulty("QS_QUEUE") || d.Config.Queue == config.QueueCloudTasks {
		return nil
	}
	return []finding{{fine, "work", "the server itself does what is due"}}
}

// checkCloudTasks reads each queue and its tasks once.
func checkCloudTasks(ctx context.Context, d Doctor) []finding {
	if d.Config.Queue != config.QueueCloudTasks || !d.isSet("QS_CLOUDTASKS_QUEUE", d.Config.CloudTasksQueue) ||
		d.faulty("QS_CLOUDTASKS_ENDPOINT") {
		return nil
	}
	waiting, paused, err := d.tasksWaiting(ctx)
	switch {
	case err != nil:
		return []finding{{wrong, "queue", err.Error()}}
	case len(paused) > 0:
		return []finding{{wrong, "queue",
			fmt.Sprintf("nothing is done of the kinds whose queues are paused or disabled: %s; gcloud tasks queues resume %s-%s",
				strings.Join(paused, ", "), path.Base(d.Config.CloudTasksQueue), paused[0])}}
	case d.Config.CloudTasksEndpoint != "":
		return []finding{
			{warning, "queue", "an emulator stands in for Cloud Tasks, and keeps nothing; unset QS_CLOUDTASKS_ENDPOINT to keep tasks"},
		}
	default:
		return []finding{{fine, "queue", fmt.Sprintf("%s-… answer for each kind of tasks; %d tasks wait", d.Config.CloudTasksQueue, waiting)}}
	}
}

// tasksWaiting counts the tasks of all queues and lists the kinds whose queue is
// paused or disabled.
func (d Doctor) tasksWaiting(ctx context.Context) (waiting int, paused []string, err error) {
	tasks, err := d.Program.Tasks(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, tasks.Close()) }()
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	waiting, err = tasks.Waiting(patient)
	if err != nil {
		return 0, nil, err
	}
	paused, err = tasks.Paused(patient)
	return waiting, paused, err
}

// checkMachines names the accounts that may start the timers' jobs, if the server does
// not.
func checkMachines(_ context.Context, d Doctor) []finding {
	if d.Config.Queue != config.QueueCloudTasks || d.faulty("QS_MACHINE_ACCOUNTS") {
		return nil
	}
	if len(d.Config.MachineAccounts) == 0 {
		return []finding{
			{
				wrong, "machines",
				"nobody may start the timers' jobs, so none runs by the clock; set QS_MACHINE_ACCOUNTS to the service account of Cloud Scheduler",
			},
		}
	}
	return []finding{{fine, "machines", fmt.Sprintf("%d may start the timers' jobs", len(d.Config.MachineAccounts))}}
}
