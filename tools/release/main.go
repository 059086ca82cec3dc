// Command release packs the binaries of a release. `make release` runs it: for each
// platform an archive and a software bill of materials, the container images for Linux,
// and their checksums. The same binaries always give the same bytes: times are the
// commit's, owners are nobody's, and files are in one order.
//
//	release pack -version v1 -commit-time 1700000000 -binaries DIR -source DIR -out DIR
//	release push -version v1 -commit-time 1700000000 -binaries DIR -source DIR -image REPOSITORY
//
// It is a module of its own, so the program does not depend on what it needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// release is what is packed, from where and to where.
type release struct {
	version    string
	made       time.Time // the commit's, given to every file
	binaries   string    // the folder of the binaries, each in a folder named OS_ARCH
	source     string    // the checkout
	out        string
	repository string // where the image is pushed
	roots      string // the file of certificate authorities for the image
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1) //nolint:gocritic // nothing else is deferred
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("say pack or push")
	}
	var r release
	var seconds int64
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "", "the release's version")
	flags.Int64Var(&seconds, "commit-time", 0, "the time of every file, in Unix seconds")
	flags.StringVar(&r.binaries, "binaries", "", "the folder of the binaries")
	flags.StringVar(&r.source, "source", ".", "the folder of the checkout")
	flags.StringVar(&r.out, "out", "", "the folder for what is packed")
	flags.StringVar(&r.repository, "image", "", "the repository that the image is pushed to")
	flags.StringVar(&r.roots, "roots", "/etc/ssl/certs/ca-certificates.crt", "the certificate authorities for the image")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if r.version == "" || seconds == 0 || r.binaries == "" {
		return errors.New("-version, -commit-time and -binaries are needed")
	}
	r.made = time.Unix(seconds, 0).UTC()
	platforms, err := r.platforms()
	if err != nil {
		return err
	}
	switch args[0] {
	case "pack":
		return r.pack(platforms)
	case "push":
		return r.push(ctx, platforms)
	}
	return fmt.Errorf("%s is neither pack nor push", args[0])
}

// platform is one binary.
type platform struct{ os, arch, binary string }

func (p platform) String() string { return p.os + "_" + p.arch }

// platforms finds the binaries.
func (r release) platforms() ([]platform, error) {
	paths, err := filepath.Glob(filepath.Join(r.binaries, "*_*", "questscheduler*"))
	if err != nil {
		return nil, err
	}
	var found []platform
	for _, path := range paths {
		system, arch, _ := strings.Cut(filepath.Base(filepath.Dir(path)), "_")
		found = append(found, platform{os: system, arch: arch, binary: path})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no binary is in %s", r.binaries)
	}
	return found, nil
}

// name is that of a file of the release.
func (r release) name(rest string) string {
	return filepath.Join(r.out, "questscheduler_"+r.version+"_"+rest)
}

// pack writes everything but what is pushed.
func (r release) pack(platforms []platform) error {
	var written []string
	for _, p := range platforms {
		archive, err := r.writeArchive(p)
		if err != nil {
			return fmt.Errorf("pack %s: %w", p, err)
		}
		bill, err := r.writeBill(p)
		if err != nil {
			return fmt.Errorf("list what %s is made of: %w", p, err)
		}
		written = append(written, archive, bill)
		if p.os != "linux" {
			continue
		}
		image, err := r.writeImage(p)
		if err != nil {
			return fmt.Errorf("make the image of %s: %w", p, err)
		}
		written = append(written, image)
	}
	return r.writeSums(written)
}
