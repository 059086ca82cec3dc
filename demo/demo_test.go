package demo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/config"
)

// recorded builds a program that only records what the demo has it do.
type recorded struct {
	Lifecycle
	change func(*config.Config) // the environment
	starts func() error         // what happens when it starts; nil: nothing
	edge   *echo.Echo
	opened config.Config

	mu    sync.Mutex
	steps []string
}

func (r *recorded) Settings(defaults config.Config) (config.Config, error) {
	if r.change != nil {
		r.change(&defaults)
	}
	return defaults, nil
}

func (r *recorded) Open(_ context.Context, cfg config.Config, _ func() time.Time) (Program, error) {
	r.opened, r.edge = cfg, echo.New()
	return Program{Lifecycle: r, Edge: r.edge}, nil
}

func (r *recorded) step(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, name)
	return nil
}

func (r *recorded) Start(_ context.Context, listener net.Listener) error {
	if r.starts != nil {
		if err := r.starts(); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	return errors.Join(r.step("start"), listener.Close())
}
func (r *recorded) ClockSet(context.Context) error { return r.step("clock set") }
func (r *recorded) Stop() error                    { return r.step("stop") }

// get is what the demo's page answers to a browser on this machine.
func (r *recorded) get(address string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, address, http.NoBody)
	request.RemoteAddr = "127.0.0.1:1"
	answer := httptest.NewRecorder()
	r.edge.ServeHTTP(answer, request)
	return answer
}

func TestDemo_OfASeededFolder_RunsTheProgramOnSimulators(t *testing.T) {
	t.Parallel()
	for name, disposable := range map[string]bool{"to be continued": false, "for once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, clock, program := t.TempDir(), control.NewClock(nil), &recorded{}
			if err := (World{Seeded: true}).save(dir); err != nil {
				t.Fatal(err)
			}
			at := Place{Dir: dir, Disposable: disposable, Addr: "127.0.0.1:0", Clock: clock, Patience: time.Minute}
			d, err := Open(t.Context(), at, program)
			if err != nil {
				t.Fatal(err)
			}
			ready := d.Ready()
			if err := errors.Join(d.Begin(t.Context()), clock.Advance(time.Hour)); err != nil {
				t.Error(err)
			}
			if page := program.get(ready.Page); page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "<title>questscheduler demo") {
				t.Errorf("the page is answered %d: %s", page.Code, page.Body)
			}
			if script := program.get(ready.Page + "/assets/main.js"); script.Code != http.StatusOK {
				t.Errorf("its script is answered %d", script.Code)
			}
			if err := d.End(); err != nil {
				t.Error(err)
			}
			if want := []string{"start", "clock set", "stop"}; !slices.Equal(program.steps, want) {
				t.Errorf("the program's steps are %v, want %v", program.steps, want)
			}
			cfg := program.opened
			if cfg.Disposable != disposable || !cfg.SweepAtOnce || cfg.SQLitePath != filepath.Join(dir, StoreFile) ||
				cfg.PublicURL != ready.API || cfg.GoogleEndpoint != ready.Google || cfg.DiscordEndpoint != ready.Discord {
				t.Errorf("the settings are %+v, and the demo is at %+v", cfg, ready)
			}
			if world, err := OpenWorld(dir); err != nil || world.ClockOffset != time.Hour {
				t.Errorf("the folder keeps the clock at %s (%v)", world.ClockOffset, err)
			}
		})
	}
}

// A page that a browser kept from the demo before asks as soon as the server listens.
func TestDemo_WhileItIsFilled_ShowsNothingOfIt(t *testing.T) {
	t.Parallel()
	stopped := errors.New("planned")
	for name, row := range map[string]struct {
		seeded bool
		code   int
	}{
		"a new world": {false, http.StatusInternalServerError}, // 503 by the program's own handler of errors
		"an old one":  {true, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, program := t.TempDir(), &recorded{}
			if row.seeded {
				if err := (World{Seeded: true}).save(dir); err != nil {
					t.Fatal(err)
				}
			}
			at := Place{Dir: dir, Addr: "127.0.0.1:0", Clock: control.NewClock(nil), Patience: time.Minute}
			d, err := Open(t.Context(), at, program)
			if err != nil {
				t.Fatal(err)
			}
			page := d.Ready().Page
			program.starts = func() error {
				for _, part := range []string{"/world", "/commands"} {
					if got := program.get(page + part); got.Code != row.code {
						t.Errorf("%s is answered %d: %s", part, got.Code, got.Body)
					}
				}
				return stopped
			}
			if err := d.Begin(t.Context()); !errors.Is(err, stopped) {
				t.Errorf("it begins: %v", err)
			}
			if err := d.End(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Each row is a folder or an environment that the demo cannot run with.
func TestOpen_Misused_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		file, content string
		change        func(*config.Config)
		says          string
	}{
		"another folder": {"letter.txt", "Dear", nil, "name an empty folder with --data"},
		"another file":   {worldFile, "Dear", nil, "name another folder with --data"},
		"Firebase": {
			worldFile, "{}", func(cfg *config.Config) { cfg.Auth = config.AuthFirebase }, "Firebase does not know the demo's people; unset it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, row.file), []byte(row.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(t.Context(), Place{Dir: dir, Addr: "127.0.0.1:0"}, &recorded{change: row.change})
			if !errors.As(err, new(Misuse)) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("it says %v, want %q", err, row.says)
			}
		})
	}
}

// A world whose seeding was interrupted starts over. Its key, which seals nothing yet, may stay.
func TestOpenWorld_Unseeded_StartsOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := (World{GoogleAddr: "127.0.0.1:1"}).save(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{StoreFile, googleFolder, KeysFile} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	world, err := OpenWorld(dir)
	if err != nil || world.GoogleAddr != "" || world.Users == nil {
		t.Errorf("it is %+v (%v)", world, err)
	}
	for name, kept := range map[string]bool{StoreFile: false, googleFolder: false, KeysFile: true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != kept {
			t.Errorf("%s is kept: %t", name, err == nil)
		}
	}
}
