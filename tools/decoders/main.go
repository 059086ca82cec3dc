// Command decoders reads a page of a calendar's listing from standard input and prints
// how long several JSON decoders take to decode the fields of the field mask, in
// milliseconds. `make bench` runs it. It is in this module so that decoders which the
// program does not use are not among its dependencies.
package main

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"
	goccy "github.com/goccy/go-json"
)

type moment struct {
	Date     string `json:"date"`
	DateTime string `json:"dateTime"`
	TimeZone string `json:"timeZone"`
}

type event struct {
	ID         string   `json:"id"`
	ETag       string   `json:"etag"`
	Status     string   `json:"status"`
	Updated    string   `json:"updated"`
	Start      *moment  `json:"start"`
	End        *moment  `json:"end"`
	Recurrence []string `json:"recurrence"`
	InstanceOf string   `json:"recurringEventId"`
	Extended   struct {
		Private map[string]string `json:"private"`
	} `json:"extendedProperties"`
}

type page struct {
	NextPage string   `json:"nextPageToken"`
	NextSync string   `json:"nextSyncToken"`
	Role     string   `json:"accessRole"`
	Zone     string   `json:"timeZone"`
	Items    []*event `json:"items"`
}

// asEncodingJSON are the options with which package gcal decodes pages.
var asEncodingJSON = jsonv2.JoinOptions(
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), legacy.MergeWithLegacySemantics(true),
	jsonv2.MatchCaseInsensitiveNames(true), legacy.MatchCaseSensitiveDelimiter(true),
)

// decoders decode a page from a response body, each in its usual way.
var decoders = []struct {
	name string
	read func(body io.Reader, into *page) error
}{
	{"encoding_json", func(body io.Reader, into *page) error { return stdjson.NewDecoder(body).Decode(into) }},
	{"json_v2", func(body io.Reader, into *page) error { return jsonv2.UnmarshalRead(body, into) }},
	{"json_v2_as_encoding_json", func(body io.Reader, into *page) error { return jsonv2.UnmarshalRead(body, into, asEncodingJSON) }},
	{"goccy", func(body io.Reader, into *page) error {
		text, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		return goccy.Unmarshal(text, into)
	}},
}

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err)
	}
	taken := make([][]time.Duration, len(decoders))
	for range rounds { // in turns, so other load on the machine affects all alike
		for i, decoder := range decoders {
			var into page
			began := time.Now()
			err := decoder.read(bytes.NewReader(text), &into)
			taken[i] = append(taken[i], time.Since(began))
			if err != nil || len(into.Items) == 0 {
				fail(fmt.Errorf("%s: %d events: %w", decoder.name, len(into.Items), err))
			}
		}
	}
	for i, decoder := range decoders {
		slices.Sort(taken[i])
		fmt.Println(decoder.name, float64(taken[i][rounds/2])/float64(time.Millisecond))
	}
}

// rounds is how often each decoder reads the page; the middle one is printed.
const rounds = 101

func fail(err error) {
	fmt.Fprintln(os.Stderr, "decoders:", err)
	os.Exit(1)
}
