// Package examples holds an example of each route of the OpenAPI document: a request and
// the answer that the server gave to it. All of them were made in one world, so an id
// means the same in every file.
//
// `make generate` writes the files (cmd/questscheduler/examples_test.go), and the same
// test fails once the server answers otherwise.
package examples

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

// Folder is where the files are, below the module's top folder. Each is named after the
// operation: create-poll.json.
const Folder = "api/examples"

// extension ends the names of the files.
const extension = ".json"

//go:embed *.json
var files embed.FS

// Example is a request with its answer.
type Example struct {
	// As is who calls: a member of the party (gm, ana, ben, cho), or admin; "" is a caller
	// without a token.
	As       string   `json:"as,omitempty"`
	Request  Request  `json:"request"`
	Response Response `json:"response"`
}

// Request is an HTTP request. Its authorisation is that of Example.As.
type Request struct {
	Method string `json:"method"`
	// Path is escaped, and has the query.
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"`
}

// Response is its answer: a body, or the first events of a stream.
type Response struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body,omitempty"`
	// Events is the beginning of a stream, by lines.
	Events []string `json:"events,omitempty"`
}

// Text is the content of a file.
func (e Example) Text() (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(e)
	return text.String(), err
}

// Read returns all examples by the ids of their operations.
func Read() (map[string]Example, error) {
	all := map[string]Example{}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		var example Example
		content, err := files.ReadFile(entry.Name())
		if err == nil {
			err = json.Unmarshal(content, &example)
		}
		if err != nil {
			return nil, fmt.Errorf("read the example %s: %w", entry.Name(), err)
		}
		all[strings.TrimSuffix(entry.Name(), extension)] = example
	}
	return all, nil
}
