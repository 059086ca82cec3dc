package transfer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/typedjson"
)

// version is that of the file. It rises with what a line means, and with what stored documents mean:
// then older files are refused, or changed as they are read.
const version = 1

// longest limits a line: a document of 1 MiB, in which every byte may take six.
const longest = 8 << 20

// head is the first line.
type head struct {
	Export  string    `json:"export"`
	Version int       `json:"version"`
	At      time.Time `json:"at"`
}

const program = "questscheduler"

// line is a document: its fields as package typedjson writes them.
type line struct {
	Path store.Path      `json:"path"`
	Data json.RawMessage `json:"data"`
}

// foot is the last line. SHA256 is that of all lines above, as hexadecimal digits.
type foot struct {
	Contents
	SHA256 string `json:"sha256"`
}

// writer writes a file line by line.
type writer struct {
	out  *bufio.Writer
	hash hash.Hash
}

func newWriter(out io.Writer) *writer {
	return &writer{bufio.NewWriterSize(out, 1<<16), sha256.New()}
}

// write adds a line.
func (w *writer) write(value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text) // it ends with a newline
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("encode a line: %w", err)
	}
	w.hash.Write(text.Bytes())
	if _, err := w.out.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	return nil
}

func (w *writer) end(contents Contents) error {
	if err := w.write(foot{contents, hex.EncodeToString(w.hash.Sum(nil))}); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	return nil
}

// Read reads a file to its end and passes each document to take, which may be nil. It returns what
// the file holds, and a name that is the file's own. Invalid: no export, one of another version,
// and one that was cut or changed; documents before that place were passed on.
func Read(file io.Reader, take func(store.Document) error) (contents Contents, name string, err error) {
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<16), longest)
	hash := sha256.New()
	if err := readHead(lines, hash); err != nil {
		return Contents{}, "", err
	}
	contents = newContents()
	for number := 2; lines.Scan(); number++ {
		var either struct {
			line
			foot
		}
		if err := json.Unmarshal(lines.Bytes(), &either); err != nil {
			return Contents{}, "", changed(fmt.Errorf("line %d: %w", number, err))
		}
		if either.Path == "" {
			return contents, either.SHA256, checkFoot(contents, either.foot, hash, lines)
		}
		sum(hash, lines.Bytes())
		document, err := either.document()
		if err != nil {
			return Contents{}, "", changed(fmt.Errorf("line %d: %w", number, err))
		}
		contents.add(document.Path, string(either.Data))
		if take != nil {
			if err := take(document); err != nil {
				return Contents{}, "", err
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return Contents{}, "", changed(lines.Err())
	}
	if err := lines.Err(); err != nil {
		return Contents{}, "", fmt.Errorf("read the file: %w", err)
	}
	return Contents{}, "", fault.New(fault.Invalid, "the file lacks its end; the export or a copy of it was broken off, so export again")
}

func readHead(lines *bufio.Scanner, hash hash.Hash) error {
	var first head
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil || first.Export != program {
		if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("read the file: %w", err)
		}
		return fault.New(fault.Invalid, `the file is no export; make one with "questscheduler export FILE"`)
	}
	if first.Version != version {
		return fault.Newf(fault.Invalid,
			"the file has version %d of the format and this program reads %d; import it with the version of questscheduler that wrote it",
			first.Version, version)
	}
	sum(hash, lines.Bytes())
	return nil
}

func sum(hash hash.Hash, line []byte) {
	hash.Write(line)
	hash.Write([]byte{'\n'})
}

// document is the line's document, if a store may hold it.
func (l line) document() (store.Document, error) {
	data, err := typedjson.Decode(l.Data)
	if err == nil {
		err = l.Path.Valid()
	}
	if err == nil {
		data, err = store.Normalize(data)
	}
	if err == nil {
		err = store.CheckSize(l.Path, data)
	}
	return store.Document{Path: l.Path, Data: data}, err
}

func checkFoot(contents Contents, says foot, hash hash.Hash, lines *bufio.Scanner) error {
	switch {
	case says.SHA256 != hex.EncodeToString(hash.Sum(nil)):
		return changed(errors.New("the checksum of its lines is another than its last line says"))
	case contents.Documents != says.Documents || len(contents.differ(says.Contents)) > 0:
		return changed(errors.New("its documents are others than its last line says"))
	case lines.Scan():
		return changed(errors.New("lines follow its last one"))
	}
	return nil
}

func changed(cause error) error {
	return fault.Wrap(fault.Invalid, cause, "the file was changed or damaged after it was written; copy it again, or export again")
}
