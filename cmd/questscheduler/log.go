package main

import (
	"io"
	"log/slog"

	"questscheduler/internal/config"
)

// newLogger follows the settings. On Cloud Run its JSON has the names of Cloud Logging.
func newLogger(cfg config.Config, out io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		level = slog.LevelInfo // the settings were checked; this is for none
	}
	options := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat != config.LogJSON {
		return slog.New(slog.NewTextHandler(out, options))
	}
	if cfg.Around.CloudRun {
		options.ReplaceAttr = asCloudLogging
	}
	return slog.New(slog.NewJSONHandler(out, options))
}

// asCloudLogging renames the fields that Cloud Logging knows
// (cloud.google.com/logging/docs/structured-logging). It takes the time as it is.
func asCloudLogging(groups []string, field slog.Attr) slog.Attr {
	level, isLevel := field.Value.Any().(slog.Level)
	switch {
	case len(groups) > 0:
		return field
	case field.Key == slog.MessageKey:
		field.Key = "message"
	case field.Key == slog.LevelKey && isLevel && level == slog.LevelWarn:
		return slog.String("severity", "WARNING")
	case field.Key == slog.LevelKey && isLevel:
		return slog.String("severity", level.String())
	}
	return field
}
