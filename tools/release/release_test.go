package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// open returns a release of this test's own binary, as if it were the program.
func open(t *testing.T) release {
	t.Helper()
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	r := release{
		version: "v1.2.3", made: time.Unix(1700000000, 0).UTC(), source: "../..", out: t.TempDir(), binaries: t.TempDir(),
		roots: filepath.Join(t.TempDir(), "roots.crt"),
	}
	files := map[string][]byte{r.roots: []byte("authorities")}
	for _, path := range []string{"linux_amd64/questscheduler", "linux_arm64/questscheduler", "windows_amd64/questscheduler.exe"} {
		files[filepath.Join(r.binaries, path)] = binary
	}
	for path, content := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func packed(t *testing.T, r release) string {
	t.Helper()
	platforms, err := r.platforms()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.pack(platforms); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	return string(sums)
}

func TestPack_Again_GivesTheSameBytes(t *testing.T) {
	t.Parallel()
	r := open(t)
	first := packed(t, r)
	if files := strings.Count(first, "\n"); files != 8 {
		t.Fatalf("%d files, want an archive and a bill for each of 3 platforms, and 2 images:\n%s", files, first)
	}
	for range 2 {
		r.out = t.TempDir()
		if again := packed(t, r); again != first {
			t.Fatalf("first:\n%s\nthen:\n%s", first, again)
		}
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = r.out
	if said, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

func TestBill_EveryModuleOfTheBinary_IsListed(t *testing.T) {
	t.Parallel()
	r := open(t)
	packed(t, r)
	file, err := os.Open(r.name("linux_amd64.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var bill cdx.BOM
	if err := cdx.NewBOMDecoder(file, cdx.BOMFileFormatJSON).Decode(&bill); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, part := range *bill.Components {
		names = append(names, part.Name)
		if !strings.HasPrefix(part.PackageURL, "pkg:golang/"+part.Name+"@") || part.Version == "" {
			t.Errorf("%s has the address %s", part.Name, part.PackageURL)
		}
	}
	for _, want := range []string{"std", "github.com/CycloneDX/cyclonedx-go", "github.com/google/go-containerregistry"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
}

func TestImage_AsLoaded_IsThatOfTheDockerfile(t *testing.T) {
	t.Parallel()
	r := open(t)
	packed(t, r)
	tag, err := name.NewTag("questscheduler:v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath(r.name("image_linux_arm64.tar"), &tag)
	if err != nil {
		t.Fatal(err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config := file.Config
	if file.Architecture != "arm64" || config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/questscheduler"}) ||
		!slices.Equal(config.Cmd, []string{"serve"}) ||
		!slices.Contains(config.Env, "QS_SQLITE_PATH=/data/questscheduler.db") || len(config.ExposedPorts) != 1 {
		said, _ := json.Marshal(file) //nolint:errchkjson // for the message
		t.Errorf("the image is configured as %s", said)
	}
	owners := map[string]int{}
	content := mutate.Extract(image)
	defer content.Close()
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		owners[header.Name] = header.Uid
		if header.Name == "etc/ssl/certs/ca-certificates.crt" {
			if roots, err := io.ReadAll(reader); err != nil || !bytes.Equal(roots, []byte("authorities")) {
				t.Errorf("the authorities are %q, %v", roots, err)
			}
		}
	}
	if _, is := owners["questscheduler"]; !is || owners["data/"]+owners["data"] != nobody {
		t.Errorf("the image holds, by owner, %v", owners)
	}
}

func TestPush_ToARegistry_GivesBothProcessors(t *testing.T) {
	t.Parallel()
	r := open(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	r.repository = strings.TrimPrefix(server.URL, "http://") + "/party/questscheduler"
	args := []string{
		"push", "-version", r.version, "-commit-time", "1700000000", "-binaries", r.binaries, "-source", r.source, "-roots",
		r.roots, "-image", r.repository,
	}
	if err := run(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"v1.2.3", "latest"} {
		named, err := name.ParseReference(r.repository + ":" + tag)
		if err != nil {
			t.Fatal(err)
		}
		for _, arch := range []string{"amd64", "arm64"} {
			image, err := remote.Image(named, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))
			if err != nil {
				t.Fatal(err)
			}
			if file, err := image.ConfigFile(); err != nil || file.Architecture != arch {
				t.Errorf("%s for %s: %v", tag, arch, err)
			}
		}
	}
}
