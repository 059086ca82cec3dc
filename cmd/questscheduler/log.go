package main

import (
	"io"
	"log/slog"
	"reflect"

	"questscheduler/internal/config"
)

// newLogger follows the settings. On Cloud Run its JSON has the names of Cloud Logging.
func newLogger(cfg config.Config, out io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		level = slog.LevelInfo // the settings were checked; this is for none
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: withoutEmpty}
	if cfg.LogFormat != config.LogJSON {
		return slog.New(slog.NewTextHandler(out, options))
	}
	if cfg.Around.CloudRun {
		options.ReplaceAttr = func(groups []string, field slog.Attr) slog.Attr {
			return withoutEmpty(groups, asCloudLogging(groups, field))
		}
	}
	return slog.New(slog.NewJSONHandler(out, options))
}

// withoutEmpty drops a field that says nothing: an empty text or list, a zero time, nil.
// Numbers and durations stay.
func withoutEmpty(_ []string, field slog.Attr) slog.Attr {
	value := reflect.ValueOf(field.Value.Any())
	switch value.Kind() {
	case reflect.Invalid:
		return slog.Attr{}
	case reflect.String, reflect.Slice, reflect.Map:
		if value.Len() == 0 {
			return slog.Attr{}
		}
	case reflect.Struct:
		if value.IsZero() || field.Value.Kind() == slog.KindTime && field.Value.Time().IsZero() {
			return slog.Attr{}
		}
	case reflect.Pointer:
		if value.IsNil() {
			return slog.Attr{}
		}
	}
	return field
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
