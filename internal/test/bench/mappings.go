package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/oauth2"

	"questscheduler/attendees/mappings"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
)

const (
	// mappedPeople is how many rows the sheet has.
	mappedPeople = 10_000
	// loadEnough is how often it is loaded for one figure.
	loadEnough   = 20
	mappedDomain = "primary.example"
	sheetID      = "bench"
	// plainMappings is the figure that loads are compared with: encoding/json, decoding the
	// answer alone.
	plainMappings = "mappings_decoded_encoding_json"
)

// loadMappings loads the second addresses of many people as a refresh does, from a Google Sheet
// over a socket and from a file, and measures how long a load takes and by how much it makes
// the heap grow.
func loadMappings(ctx context.Context, r *report, folder string) error {
	return loads(ctx, r, folder, mappedPeople)
}

func loads(ctx context.Context, r *report, folder string, people int) error {
	rows := mappedRows(people)
	body, err := recordSheet(ctx, rows)
	if err != nil {
		return err
	}
	file, err := writeMappings(folder, rows)
	if err != nil {
		return err
	}
	taken, err := timed(loadEnough, func(int) error { return json.Unmarshal(body, &struct{ Values [][]string }{}) })
	if err != nil {
		return err
	}
	if err := errors.Join(r.add("mappings", float64(people), "rows", ""), r.add(plainMappings, taken.at(0.5), "ms", "")); err != nil {
		return err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // a client that has gone notices the missing answer
	}))
	defer server.Close()
	sheet := mappings.Sheet{
		ID: sheetID, Endpoint: server.URL, Client: func(context.Context) (*http.Client, error) { return server.Client(), nil },
	}
	return errors.Join(load(ctx, r, "mappings_sheet", sheet, people), load(ctx, r, "mappings_file", file, people))
}

// load measures loads of one source: how long they take, how much of the heap one of them
// needs at most, garbage included, and how much the table keeps.
func load(ctx context.Context, r *report, name string, source mappings.Source, people int) error {
	var table mappings.Table
	once := func(int) error {
		rows, err := source.Rows(ctx)
		if err != nil {
			return err
		}
		var skipped []mappings.Skipped
		table, skipped, err = mappings.Parse(rows, []string{mappedDomain}, table)
		if err == nil && (table.Len() != people || len(skipped) > 0) {
			err = fmt.Errorf("%d mappings were loaded, %d rows skipped", table.Len(), len(skipped))
		}
		return err
	}
	taken, err := timed(loadEnough, once)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	table = mappings.Table{}
	runtime.GC()
	before, allocated := heap(), allocatedSoFar()
	stop := watchHeap()
	if err := once(0); err != nil {
		return err
	}
	grown := stop()
	allocated = allocatedSoFar() - allocated
	runtime.GC()
	kept := float64(heap()) - float64(before)
	encoded, err := table.Encode()
	if err != nil {
		return err
	}
	return errors.Join(
		r.add(name+"_loaded", taken.at(0.5), "ms", plainMappings),
		r.add(name+"_loaded_at_most", taken.at(1), "ms", plainMappings),
		r.add(name+"_heap_grew_at_most", grown/(1<<20), "MiB", ""),
		r.add(name+"_allocated", float64(allocated)/(1<<20), "MiB", ""),
		r.add(name+"_heap_kept", kept/(1<<20), "MiB", ""),
		r.add(name+"_stored", float64(len(encoded))/(1<<10), "KiB", ""))
}

// allocatedSoFar is how many bytes were allocated since the start, freed ones included.
func allocatedSoFar() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// mappedRows are a sheet's, with its header.
func mappedRows(people int) [][]string {
	rows := [][]string{{"Primary Email", "Secondary Emails", "Status"}}
	for n := range people {
		rows = append(rows, []string{
			fmt.Sprintf("person.number%05d@%s", n, mappedDomain),
			fmt.Sprintf("number%05d@secondary.example, p%05d@other.example", n, n), "active",
		})
	}
	return rows
}

// recordSheet is what the simulator answers to the reading of a sheet.
func recordSheet(ctx context.Context, rows [][]string) ([]byte, error) {
	sim, err := google.New(google.Options{Sequential: true})
	if err != nil {
		return nil, err
	}
	const reader = "reader@example.test"
	if _, err := sim.AddUser(google.User{Key: "reader", Sub: "1", Email: reader}); err != nil {
		return nil, err
	}
	grant, err := sim.NewGrant("reader", google.ScopeSheetsReadonly)
	if err != nil {
		return nil, err
	}
	err = sim.AddSheet(google.Sheet{
		ID: sheetID, Tabs: map[string][][]string{mappings.Tab: rows}, Roles: map[string]google.Role{reader: google.Reader},
	})
	if err != nil {
		return nil, err
	}
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: grant.AccessToken})
	recorder := &recording{inner: &oauth2.Transport{Source: token, Base: control.Transport(sim.Handler())}}
	sheet := mappings.Sheet{
		ID: sheetID, Endpoint: "http://google.sim",
		Client: func(context.Context) (*http.Client, error) { return &http.Client{Transport: recorder}, nil },
	}
	if _, err := sheet.Rows(ctx); err != nil {
		return nil, err
	}
	return recorder.last, nil
}

// writeMappings writes a sheet as a CSV file.
func writeMappings(folder string, rows [][]string) (_ mappings.File, err error) {
	path := filepath.Join(folder, "mappings.csv")
	file, err := os.Create(path)
	if err != nil {
		return mappings.File{}, err
	}
	return mappings.File{Path: path}, errors.Join(csv.NewWriter(file).WriteAll(rows), file.Close())
}
