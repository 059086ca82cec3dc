package emulator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	tasks "cloud.google.com/go/cloudtasks/apiv2"
	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
)

// TasksVariable is the path of the Cloud Tasks emulator; without it that of the
// module tools/emulators, which is built where it is not there yet.
const TasksVariable = "CLOUD_TASKS_EMULATOR"

// tasksModule is the path of the emulator's module.
const tasksModule = "github.com/aertje/cloud-tasks-emulator"

var errNoTasks = errors.New("there is no Cloud Tasks emulator; build it with: make bin/cloud-tasks-emulator, or set " + TasksVariable)

// tasksEmulator is the one of this process.
type tasksEmulator struct{ host, issuer string }

var startedTasks = sync.OnceValues(startTasks)

// Queues are queues of the Cloud Tasks emulator that a test has to itself.
type Queues struct {
	// Host is the emulator's host:port.
	Host string
	// Issuer is who vouches for what it delivers.
	Issuer string
	// Prefix is what the full names of the queues begin with.
	Prefix string
}

// CloudTasks makes a queue for each kind in the Cloud Tasks emulator, which it
// starts for the first test that asks; they go when the test ends. Where there
// is none, the test is skipped; with CI set it fails.
func CloudTasks(t testing.TB, kinds ...string) Queues {
	t.Helper()
	emulator, err := startedTasks()
	switch {
	case err == nil:
	case errors.Is(err, errNoTasks) && os.Getenv("CI") == "":
		t.Skip("skipped: " + err.Error())
	default:
		t.Fatal(err)
	}
	const location = "projects/demo/locations/here"
	queues := Queues{Host: emulator.host, Issuer: emulator.issuer, Prefix: location + "/queues/" + strings.ToLower(rand.Text())}
	client, err := tasks.NewClient(t.Context(), option.WithEndpoint(emulator.host), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		name := queues.Prefix + "-" + kind
		_, err := client.CreateQueue(t.Context(), &cloudtaskspb.CreateQueueRequest{Parent: location, Queue: &cloudtaskspb.Queue{
			Name: name, RetryConfig: &cloudtaskspb.RetryConfig{
				// As in production, but that it takes no -1 for any number.
				MaxAttempts: 1 << 20, MinBackoff: durationpb.New(time.Second), MaxBackoff: durationpb.New(10 * time.Minute), MaxDoublings: 10,
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := client.DeleteQueue(context.Background(), &cloudtaskspb.DeleteQueueRequest{Name: name}); err != nil {
				t.Error(err)
			}
		})
	}
	return queues
}

// FindCloudTasks tells, without starting it, whether the Cloud Tasks emulator
// can be had: nil, or what is missing on this machine.
func FindCloudTasks() error {
	_, err := findTasks()
	return err
}

// findTasks gives the emulator's program, and builds it where it is not there.
var findTasks = sync.OnceValues(func() (string, error) {
	if program := os.Getenv(TasksVariable); program != "" {
		if _, err := os.Stat(program); err != nil {
			return "", fmt.Errorf("%s: %w", TasksVariable, err)
		}
		return program, nil
	}
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		return "", errNoTasks
	}
	root := filepath.Join(filepath.Dir(here), "..", "..", "..")
	program := filepath.Join(root, "bin", "cloud-tasks-emulator")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	return program, buildTasks(filepath.Join(root, "tools", "emulators"), program)
})

// buildTasks builds the emulator. Others may be at it at the same time: the file
// appears whole.
func buildTasks(module, program string) error {
	folder, err := os.MkdirTemp("", "cloud-tasks-emulator-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is in the folder for what is temporary
	built := filepath.Join(folder, "emulator")
	build := exec.Command("go", "build", "-o", built, tasksModule) //nolint:noctx // it ends without help
	build.Dir = module
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %w\n%s", errNoTasks, err, said)
	}
	text, err := os.ReadFile(built)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(program), 0o750)
	}
	beside := program + "." + rand.Text()
	if err == nil {
		err = os.WriteFile(beside, text, 0o700) //nolint:gosec // it is a program
	}
	if err == nil {
		err = os.Rename(beside, program)
	}
	return err
}

func startTasks() (tasksEmulator, error) {
	program, err := findTasks()
	if err != nil {
		return tasksEmulator{}, err
	}
	// A port that was free may be taken before the emulator has it.
	for range 3 {
		var emulator tasksEmulator
		emulator, err = launchTasks(program)
		if err == nil {
			return emulator, nil
		}
	}
	return tasksEmulator{}, err
}

// launchTasks starts the emulator and waits until it answers.
func launchTasks(program string) (tasksEmulator, error) {
	host, err := FreeAddress()
	if err != nil {
		return tasksEmulator{}, err
	}
	issuer, err := FreeAddress()
	if err != nil {
		return tasksEmulator{}, err
	}
	address, port, err := net.SplitHostPort(host)
	if err != nil {
		return tasksEmulator{}, err
	}
	said := &tail{}
	emulator := tasksEmulator{host: host, issuer: "http://" + issuer}
	//nolint:noctx // it lives as long as this process
	command := exec.Command(program, "-host", address, "-port", port, "-openid-issuer", emulator.issuer)
	command.Stdout, command.Stderr = said, said
	ended, err := startBound(command)
	if err != nil {
		return tasksEmulator{}, fmt.Errorf("start the Cloud Tasks emulator: %w", err)
	}
	err = awaitThat(ended, func(ctx context.Context) error {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
		if err != nil {
			return err
		}
		return errors.Join(connection.Close(), get(ctx, emulator.issuer+"/jwks"))
	})
	if err != nil {
		_ = command.Process.Kill() // an error means that it has already ended
		return tasksEmulator{}, fmt.Errorf("the Cloud Tasks emulator did not start: %w\n%s", err, said)
	}
	return emulator, nil
}

// get asks an address, and fails where nobody answers.
func get(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
