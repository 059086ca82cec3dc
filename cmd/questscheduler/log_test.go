package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/config"
)

// Each row is a level and its severity in Cloud Logging, which the alerts of
// docs/operations.md use.
func TestLog_OnCloudRun_SaysHowBadALineIs(t *testing.T) {
	t.Parallel()
	for level, severity := range map[slog.Level]string{
		slog.LevelDebug: "DEBUG", slog.LevelInfo: "INFO", slog.LevelWarn: "WARNING", slog.LevelError: "ERROR",
	} {
		var out bytes.Buffer
		log := newLogger(config.Config{LogLevel: "debug", LogFormat: config.LogJSON, Around: config.Surroundings{CloudRun: true}}, &out)
		log.WithGroup("of").Log(context.Background(), level, "a line", "level", "its own", "msg", "its own")
		var line struct {
			Severity, Message string
			Time              time.Time
			Of                map[string]string
		}
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.Severity != severity || line.Message != "a line" || line.Time.IsZero() || line.Of["level"] != "its own" ||
			line.Of["msg"] != "its own" {
			t.Errorf("%v: %s", level, &out)
		}
	}
}

func TestLog_LeavesOutEmptyFields(t *testing.T) {
	t.Parallel()
	for format, around := range map[string]config.Surroundings{"text": {}, config.LogJSON: {CloudRun: true}} {
		var out bytes.Buffer
		log := newLogger(config.Config{LogLevel: "info", LogFormat: format, Around: around}, &out)
		var none error
		log.Info("a line", "code", "", "error", none, "due", time.Time{}, "left", []string{}, "counts", map[string]int{},
			"failed", 0, "took", time.Duration(0), "done", false)
		for _, field := range []string{"code", "error", "due", "left", "counts"} {
			if strings.Contains(out.String(), field) {
				t.Errorf("%s is in %s", field, &out)
			}
		}
		for _, field := range []string{"failed", "took", "done"} {
			if !strings.Contains(out.String(), field) {
				t.Errorf("%s is not in %s", field, &out)
			}
		}
	}
}
