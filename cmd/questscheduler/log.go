package main

import (
	"io"
	"log/slog"

	"questscheduler/internal/config"
)

// newLogger is the log that the settings ask for. On Cloud Run its JSON is that of
// Cloud Logging, which knows how bad a line is by no other name.
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

// asCloudLogging gives the fields of a line the names that Cloud Logging looks for
// (cloud.google.com/logging/docs/structured-logging). It takes the time as it is.
func asCloudLogging(groups []string, field slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return field
	}
	switch field.Key {
	case slog.MessageKey:
		field.Key = "message"
	case slog.LevelKey:
		level, ok := field.Value.Any().(slog.Level)
		if !ok {
			return field // a field of a line's own
		}
		field = slog.String("severity", level.String())
		if level == slog.LevelWarn {
			field.Value = slog.StringValue("WARNING")
		}
	}
	return field
}
