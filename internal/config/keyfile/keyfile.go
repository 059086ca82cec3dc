// Package keyfile keeps a key, generated at the first start, in a file that only its
// owner may read.
package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// maxSize is far above any key.
const maxSize = 64 << 10

// ErrReadable is a key file that users other than its owner may read or write.
var ErrReadable = errors.New("the key file is open to other users; run chmod 600 on it")

// LoadOrCreate reads the key file at path, or creates it with a generated key.
// Concurrent starts get the same key. The file is complete and on disk before it
// returns; a crash leaves the whole file or none. Missing folders are created, open
// to their owner only.
func LoadOrCreate(path string, generate func() ([]byte, error)) ([]byte, error) {
	key, err := load(path)
	switch {
	case err == nil:
		return key, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	fresh, err := generate()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if err := create(path, fresh); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("write the key file %s: %w", path, err)
	}
	return load(path) // ours, or that of a faster start
}

func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("the key file is not a regular file")
	case info.Size() == 0 || info.Size() > maxSize:
		return nil, errors.New("the key file is empty or too large to be a key")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, ErrReadable
	}
	return os.ReadFile(path)
}

// create writes a file beside path and links it to path, which fails if path exists.
func create(path string, content []byte) (err error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".key-*") // created with 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}

// syncFolder makes the new name durable.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there
	}
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
