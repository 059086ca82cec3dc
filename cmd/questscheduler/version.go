package main

import "runtime/debug"

// version is the program's, set when it is built for a release.
var version = "dev"

// versionText is the version, and of a build from a checkout the commit.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	text := version
	if commit := settings["vcs.revision"]; commit != "" {
		text += " " + commit[:min(12, len(commit))]
		if settings["vcs.modified"] == "true" {
			text += "+changes"
		}
	}
	return text + " " + info.GoVersion
}
