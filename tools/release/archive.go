package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a file of an archive, or a folder if its name ends with a slash.
type entry struct {
	name    string
	mode    int64
	owner   int
	content []byte
}

// writeArchive packs the binary with its licence and README, in a folder of their own:
// a zip for Windows, otherwise a compressed tar.
func (r release) writeArchive(p platform) (string, error) {
	binary, err := os.ReadFile(p.binary)
	if err != nil {
		return "", err
	}
	folder := "questscheduler_" + r.version + "_" + p.String() + "/"
	entries := []entry{{name: folder + filepath.Base(p.binary), mode: 0o755, content: binary}}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return "", err
		}
		entries = append(entries, entry{name: folder + name, mode: 0o644, content: content})
	}
	if p.os == "windows" {
		packed, err := r.zipped(entries)
		if err != nil {
			return "", err
		}
		path := r.name(p.String() + ".zip")
		return path, os.WriteFile(path, packed, 0o644)
	}
	packed, err := r.tarred(entries)
	if err != nil {
		return "", err
	}
	var small bytes.Buffer
	compressor := gzip.NewWriter(&small)
	if _, err := compressor.Write(packed); err != nil {
		return "", err
	}
	if err := compressor.Close(); err != nil {
		return "", err
	}
	path := r.name(p.String() + ".tar.gz")
	return path, os.WriteFile(path, small.Bytes(), 0o644)
}

func (r release) tarred(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for _, e := range entries {
		header := &tar.Header{
			Name: e.name, Typeflag: tar.TypeReg, Mode: e.mode, Size: int64(len(e.content)),
			Uid: e.owner, Gid: e.owner, ModTime: r.made, Format: tar.FormatPAX,
		}
		if strings.HasSuffix(e.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func (r release) zipped(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.made}
		header.SetMode(os.FileMode(e.mode))
		file, err := writer.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// writeSums lists the files as `sha256sum --check` reads them.
func (r release) writeSums(paths []string) error {
	slices.Sort(paths)
	var sums strings.Builder
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), filepath.Base(path))
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
