package sqlite_test

import (
	"encoding/hex"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// call is a system call by which a process changed a file, or flushed it.
type call struct {
	name, file string
	data       []byte
	offset     int // of data, or the length that the file is cut to
}

// The lines of strace -f -y -xx. A call that others came between has two of them; it counts as
// made at the first, which has its arguments.
var (
	callLine    = regexp.MustCompile(`^\d+ +(\w+)\((?:\d+<([^>]*)>|AT_FDCWD<[^>]*>, "([^"]*)"|"([^"]*)")(.*)$`)
	callWrite   = regexp.MustCompile(`^, "((?:\\x[0-9a-f]{2})*)", \d+(?:, (\d+))?`)
	callCut     = regexp.MustCompile(`^, (\d+)`)
	hexOrPlain  = regexp.MustCompile(`^(?:\\x[0-9a-f]{2})*$`)
	callRefused = regexp.MustCompile(`= -1 `)
)

// parseCalls reads the calls for the files of a folder.
func parseCalls(t *testing.T, dir, text string) (calls []call) {
	t.Helper()
	for line := range strings.Lines(text) {
		parts := callLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if parts == nil || callRefused.MatchString(line[max(0, len(line)-80):]) {
			continue
		}
		c := call{name: parts[1], file: unhex(t, parts[2]+parts[3]+parts[4])}
		if filepath.Dir(c.file) != dir || strings.HasSuffix(c.file, "-shm") {
			continue
		}
		c.file = filepath.Base(c.file)
		switch c.name {
		case "write", "pwrite64":
			said := callWrite.FindStringSubmatch(parts[5])
			if said == nil {
				t.Fatalf("strace says %.200s", line)
			}
			c.data = []byte(unhex(t, said[1]))
			c.offset, _ = strconv.Atoi(said[2]) // write has none
		case "ftruncate":
			said := callCut.FindStringSubmatch(parts[5])
			if said == nil {
				t.Fatalf("strace says %.200s", line)
			}
			c.offset, _ = strconv.Atoi(said[1])
		}
		calls = append(calls, c)
	}
	return calls
}

func unhex(t *testing.T, text string) string {
	t.Helper()
	if !hexOrPlain.MatchString(text) {
		return text
	}
	decoded, err := hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
	if err != nil {
		t.Fatal(err)
	}
	return string(decoded)
}

// disk holds files: what was flushed of them, and the calls since.
type disk map[string]*flushed

type flushed struct {
	content []byte
	since   []call
}

func (d disk) take(c call) {
	f := d[c.file]
	if f == nil {
		f = &flushed{}
		d[c.file] = f
	}
	switch c.name {
	case "fsync", "fdatasync":
		for _, made := range f.since {
			f.content = made.on(f.content)
		}
		f.since = nil
	case "unlink", "unlinkat":
		delete(d, c.file)
	default:
		f.since = append(f.since, c)
	}
}

// on is a file's content after the call.
func (c call) on(content []byte) []byte {
	if c.name == "ftruncate" {
		if c.offset <= len(content) {
			return content[:c.offset]
		}
		return append(content, make([]byte, c.offset-len(content))...)
	}
	if end := c.offset + len(c.data); end > len(content) {
		content = append(content, make([]byte, end-len(content))...)
	}
	copy(content[c.offset:], c.data)
	return content
}

// afterPowerCut is what the files hold if the power fails now: what was flushed, and of the
// other calls each or not. dropped counts those that were not.
func (d disk) afterPowerCut(random *rand.Rand) (files map[string][]byte, dropped int) {
	files = map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		content := slices.Clone(d[name].content)
		share := random.IntN(3) // none, half or all
		for _, c := range d[name].since {
			if random.IntN(2) < share {
				content = c.on(content)
			} else {
				dropped++
			}
		}
		files[name] = content
	}
	return files, dropped
}
