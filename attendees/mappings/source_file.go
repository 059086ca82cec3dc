package mappings

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"questscheduler/fault"
)

// File reads the mappings from a CSV file (RFC 4180, in UTF-8) with a header and the columns
// of a Sheet. A row's number is its first line.
type File struct {
	// Path is where the file is.
	Path string
}

// String implements Source.
func (f File) String() string { return "file " + f.Path }

// Rows implements Source. Its errors are NotFound, Forbidden, Invalid (not readable as CSV,
// with the line), TooLarge (beyond 8 MiB) and Unavailable (it could not be read).
func (f File) Rows(context.Context) ([][]string, error) {
	text, err := f.read()
	if err != nil {
		return nil, err
	}
	rows, err := parseFile(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return rows, nil
}

func (f File) read() (_ []byte, err error) {
	info, err := os.Stat(f.Path)
	if err != nil {
		return nil, fileFault(err)
	}
	if !info.Mode().IsRegular() { // opening a named pipe would wait
		return nil, fault.New(fault.Invalid, "QS_ATTENDEES_CSV names no file; set it to the path of a CSV file.")
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, fileFault(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err := io.ReadAll(io.LimitReader(file, maxSource+1))
	if err != nil {
		return nil, fileFault(err)
	}
	if len(text) > maxSource {
		return nil, errTooLarge
	}
	return text, nil
}

func fileFault(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(fault.NotFound, err, "The file of mappings does not exist; set QS_ATTENDEES_CSV to its path.")
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(fault.Forbidden, err, "The file of mappings may not be read; let the server's user read it.")
	}
	return fault.Wrap(fault.Unavailable, err, "The file of mappings could not be read; it is retried automatically.")
}

// byteOrderMark begins files that some programs write in UTF-8.
var byteOrderMark = []byte("\ufeff")

// parseFile reads the records below the header, each at the index of its first line less 2.
func parseFile(text []byte) ([][]string, error) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	if !utf8.Valid(text) {
		return nil, fault.New(fault.Invalid, "The file of mappings is not in UTF-8; save it as \"CSV UTF-8\".")
	}
	records := csv.NewReader(bytes.NewReader(text))
	records.FieldsPerRecord = -1
	records.TrimLeadingSpace = true
	header, err := records.Read()
	if errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "The file of mappings is empty; it begins with a header of three columns.")
	}
	if err == nil {
		err = checkHeader(header)
	} else {
		err = recordFault(err)
	}
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for {
		cells, err := records.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, recordFault(err)
		}
		line, _ := records.FieldPos(0)
		if line-1 > MaxRows {
			return nil, fault.Newf(fault.Invalid, "The file of mappings has more than %d lines; remove those that are not needed.",
				MaxRows+1)
		}
		for len(rows) < line-2 {
			rows = append(rows, nil)
		}
		rows = append(rows, cells)
	}
}

func checkHeader(header []string) error {
	if len(header) == 1 && strings.Contains(header[0], ";") {
		return fault.New(fault.Invalid, "The columns of the file of mappings are separated by semicolons; separate them by commas.")
	}
	if strings.Contains(header[0], "@") {
		return fault.New(
			fault.Invalid,
			"The file of mappings begins with a mapping; put a header above it, such as \"Primary,Secondary,Status\".",
		)
	}
	return nil
}

// recordFault says which line is no CSV. It holds nothing of the line.
func recordFault(err error) error {
	if wrong := new(csv.ParseError); errors.As(err, &wrong) {
		return &fault.Error{
			Kind: fault.Invalid, Err: wrong.Err,
			Message: fmt.Sprintf(
				"Line %d of the file of mappings is no CSV: a cell with a quotation mark or a comma stands in quotation marks, and a "+
					"mark in it is doubled.",
				wrong.StartLine,
			),
		}
	}
	return err
}
