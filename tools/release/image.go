package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nobody owns the data folder, as in deploy/Dockerfile.
const nobody = 65532

// image is what deploy/Dockerfile makes, from a binary that exists: its last stage is
// an empty base, so neither a builder nor a daemon is needed.
func (r release) image(p platform) (v1.Image, error) {
	binary, err := os.ReadFile(p.binary)
	if err != nil {
		return nil, err
	}
	roots, err := os.ReadFile(r.roots)
	if err != nil {
		return nil, fmt.Errorf("the image needs certificate authorities (-roots): %w", err)
	}
	layer, err := r.layer([]entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: roots},
		{name: "questscheduler", mode: 0o755, content: binary},
		{name: "data/", mode: 0o755, owner: nobody},
	})
	if err != nil {
		return nil, err
	}
	config, err := r.config()
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config, file.Created = p.os, p.arch, config, v1.Time{Time: r.made}
	for i := range file.History {
		file.History[i].Created = v1.Time{Time: r.made}
	}
	return mutate.ConfigFile(image, file)
}

func (r release) layer(entries []entry) (v1.Layer, error) {
	packed, err := r.tarred(entries)
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil })
}

// config reads the last stage of deploy/Dockerfile, so that both make the same image.
func (r release) config() (v1.Config, error) {
	text, err := os.ReadFile(filepath.Join(r.source, "deploy", "Dockerfile"))
	if err != nil {
		return v1.Config{}, err
	}
	config := v1.Config{WorkingDir: "/"}
	for line := range strings.Lines(string(text)) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch instruction {
		case "FROM":
			config = v1.Config{WorkingDir: "/"}
		case "ENV":
			config.Env = append(config.Env, strings.Fields(rest)...)
		case "EXPOSE":
			config.ExposedPorts = map[string]struct{}{rest + "/tcp": {}}
		case "USER":
			config.User = rest
		case "ENTRYPOINT":
			err = json.Unmarshal([]byte(rest), &config.Entrypoint)
		case "CMD":
			err = json.Unmarshal([]byte(rest), &config.Cmd)
		}
		if err != nil {
			return v1.Config{}, fmt.Errorf("deploy/Dockerfile: %s: %w", instruction, err)
		}
	}
	config.Labels = map[string]string{
		"org.opencontainers.image.title": "questscheduler", "org.opencontainers.image.version": r.version,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	return config, nil
}

// writeImage writes an image as `docker load` and `podman load` read it, named
// questscheduler:VERSION. It has one name: several would be in random order.
func (r release) writeImage(p platform) (string, error) {
	image, err := r.image(p)
	if err != nil {
		return "", err
	}
	named, err := name.NewTag("questscheduler:" + r.version)
	if err != nil {
		return "", err
	}
	path := r.name("image_" + p.String() + ".tar")
	return path, tarball.WriteToFile(path, named, image)
}

// push sends one image for all processors to the repository, under the version and
// latest, with the sign-in of `docker login`.
func (r release) push(ctx context.Context, platforms []platform) error {
	index := v1.ImageIndex(empty.Index)
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		image, err := r.image(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
	}
	for _, tag := range []string{r.version, "latest"} {
		named, err := name.NewTag(r.repository + ":" + tag)
		if err != nil {
			return err
		}
		options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
		if err := remote.WriteIndex(named, index, options...); err != nil {
			return fmt.Errorf("push %s: %w", named, err)
		}
		fmt.Println("pushed", named)
	}
	return nil
}
