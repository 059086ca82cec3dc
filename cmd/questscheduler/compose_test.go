package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/config"
	"questscheduler/internal/test/docs"
)

// composed is what compose.yaml says of the server.
type composed struct {
	Services map[string]struct {
		Image       string
		Build       struct{ Context, Dockerfile string }
		EnvFile     string `yaml:"env_file"`
		Environment map[string]string
		Secrets     []string
		Ports       []string
		Volumes     []string
		Tmpfs       []string
		User        string
		ReadOnly    bool `yaml:"read_only"`
		Restart     string
	}
	Secrets map[string]struct{ File string }
	Volumes map[string]any
}

func readCompose(t *testing.T) composed {
	t.Helper()
	var file composed
	if err := yaml.Unmarshal([]byte(docs.Read(t, "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Services) != 1 {
		t.Fatalf("compose.yaml has %d services, want the server alone", len(file.Services))
	}
	return file
}

// instruction returns the last value that deploy/Dockerfile gives an instruction.
func instruction(t *testing.T, name string) string {
	t.Helper()
	value := ""
	for line := range strings.Lines(docs.Read(t, "deploy/Dockerfile")) {
		if rest, is := strings.CutPrefix(line, name+" "); is {
			value = strings.TrimSpace(rest)
		}
	}
	if value == "" {
		t.Fatalf("deploy/Dockerfile has no %s", name)
	}
	return value
}

// TestCompose_Settings_StartTheServer: with .env.example and the secrets of the
// file's head, every variable is a setting and none is wrong or missing.
func TestCompose_Settings_StartTheServer(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	server := file.Services["questscheduler"]
	key, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]byte{"enc-keys": key, "google-client-secret": []byte("none\n")}
	if len(file.Secrets) != len(values) || len(server.Secrets) != len(values) {
		t.Errorf("the secrets are %v, given to the server %v", file.Secrets, server.Secrets)
	}
	environ := strings.Fields(instruction(t, "ENV"))
	example := docs.Read(t, server.EnvFile+".example")
	for line := range strings.Lines(example) {
		assignment := strings.TrimSpace(strings.TrimPrefix(line, "# "))
		name, _, is := strings.Cut(assignment, "=")
		if !is || !strings.HasPrefix(name, config.Prefix) {
			continue
		}
		if !slices.Contains(config.Names(), name) {
			t.Errorf(".env.example names the setting %s, which is none", name)
		}
		if !strings.HasPrefix(line, "#") {
			environ = append(environ, assignment)
		}
	}
	folder := t.TempDir()
	for name, value := range server.Environment {
		if secret, is := strings.CutPrefix(value, "/run/secrets/"); is {
			if !slices.Contains(server.Secrets, secret) || file.Secrets[secret].File != "./secrets/"+secret {
				t.Errorf("%s is read from %s, where nothing is mounted", name, value)
			}
			value = filepath.Join(folder, secret)
			if err := os.WriteFile(value, values[secret], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Contains(config.Names(), strings.TrimSuffix(name, "_FILE")) {
			t.Errorf("compose.yaml sets %s, which is no setting", name)
		}
		environ = append(environ, name+"="+value)
	}
	settings, err := config.Load(environ, config.Default())
	if err != nil {
		t.Fatalf("the program refuses what compose.yaml sets:\n%v", err)
	}
	if settings.Store != config.StoreSQLite || !settings.EncKeys.IsSet() {
		t.Errorf("the store is %s; keys: %t", settings.Store, settings.EncKeys.IsSet())
	}
	for _, secret := range []string{"QS_ENC_KEYS", "QS_GOOGLE_CLIENT_SECRET", "QS_DISCORD_BOT_TOKEN"} {
		if strings.Contains(example, secret+"=") || server.Environment[secret] != "" {
			t.Errorf("%s does not come from a file", secret)
		}
	}
}

// TestCompose_Container_FitsTheImage: data, port, user and base are those of
// deploy/Dockerfile, and only the volume and /tmp can be written.
func TestCompose_Container_FitsTheImage(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	server := file.Services["questscheduler"]
	if _, err := os.Stat(filepath.Join(docs.Root(t), server.Build.Context, server.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	image := strings.Fields(instruction(t, "ENV"))
	data := server.Environment["QS_SQLITE_PATH"]
	if !slices.Contains(image, "QS_SQLITE_PATH="+data) {
		t.Errorf("the data file is %s, and the image's settings are %v", data, image)
	}
	name, mounted, _ := strings.Cut(server.Volumes[0], ":")
	if _, declared := file.Volumes[name]; !declared || len(server.Volumes) != 1 || filepath.Dir(data) != mounted {
		t.Errorf("the data file %s is not in the volume %v", data, server.Volumes)
	}
	if !strings.Contains(docs.Read(t, "deploy/Dockerfile"), " "+mounted+"\n") {
		t.Errorf("the image has no folder %s, so a volume there would be root's", mounted)
	}
	port := instruction(t, "EXPOSE")
	if !slices.Contains(image, "QS_ADDR=:"+port) || !slices.Equal(server.Ports, []string{"127.0.0.1:8080:" + port}) {
		t.Errorf("the ports are %v, and the image's %s", server.Ports, port)
	}
	if user := instruction(t, "USER"); server.User != user {
		t.Errorf("the user is %s, and the image's %s", server.User, user)
	}
	if !server.ReadOnly || !slices.Equal(server.Tmpfs, []string{"/tmp"}) || server.Restart != "unless-stopped" {
		t.Errorf("read-only: %t, tmpfs: %v, restart: %s", server.ReadOnly, server.Tmpfs, server.Restart)
	}
}

// TestCompose_Secrets_AreInNeitherGitNorImage: nor is what is built for a release.
func TestCompose_Secrets_AreInNeitherGitNorImage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".env", "secrets", "dist"} {
		if !strings.Contains(docs.Read(t, ".dockerignore"), "\n"+name+"\n") {
			t.Errorf(".dockerignore lets %s into the image's build", name)
		}
		if ignored := docs.Read(t, ".gitignore"); !strings.Contains(ignored, "\n/"+name+"\n") && !strings.Contains(ignored, "\n/"+name+"/\n") {
			t.Errorf(".gitignore lets %s into the repository", name)
		}
	}
}
