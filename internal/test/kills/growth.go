package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// figure is something of the program that must not grow for ever.
type figure struct {
	name string
	// metric is its name among the program's metrics; "": the size of the data file.
	metric string
	// unit divides it, and is printed as its name says.
	unit   float64
	named  string
	points []point
}

// point is a figure at a time since the beginning.
type point struct {
	at    time.Duration
	value float64
}

const megabyte = 1 << 20

func newFigures() []*figure {
	return []*figure{
		{name: "heap", metric: "go_memstats_heap_alloc_bytes", unit: megabyte, named: " MB"},
		{name: "resident memory", metric: "process_resident_memory_bytes", unit: megabyte, named: " MB"},
		{name: "goroutines", metric: "go_goroutines", unit: 1},
		{name: "open descriptors", metric: "process_open_fds", unit: 1},
		{name: "data file", unit: megabyte, named: " MB"},
	}
}

// slope is by how much the figure grows in an hour: that of the line with the least squares
// through its points. One time alone has none, and gives 0.
func slope(points []point) float64 {
	n := float64(len(points))
	var at, value, product, square float64
	for _, p := range points { // compared with the first, so that no digits are lost
		hours, more := (p.at - points[0].at).Hours(), p.value-points[0].value
		at, value = at+hours, value+more
		product, square = product+hours*more, square+hours*hours
	}
	spread := n*square - at*at
	if spread <= 0 {
		return 0
	}
	return (n*product - at*value) / spread
}

// since leaves out the points before a time.
func since(points []point, from time.Duration) []point {
	for i, p := range points {
		if p.at >= from {
			return points[i:]
		}
	}
	return nil
}

// line says the last value, and the growth from a time on.
func (f *figure) line(from time.Duration) string {
	points := since(f.points, from)
	if len(points) == 0 {
		return fmt.Sprintf("%-17s no sample", f.name)
	}
	last := points[len(points)-1].value
	return fmt.Sprintf("%-17s %9.1f%-3s  %+9.1f%s per hour", f.name, last/f.unit, f.named, slope(points)/f.unit, f.named)
}

// sample reads all figures now.
func (w *world) sample(ctx context.Context, at time.Duration, figures []*figure) error {
	read, err := w.server.Metrics(ctx)
	if err != nil {
		return err
	}
	for _, f := range figures {
		value, there := read[f.metric]
		if f.metric == "" {
			size, err := w.dataSize()
			if err != nil {
				return err
			}
			value, there = float64(size), true
		}
		if !there {
			return fmt.Errorf("the program has no metric %s", f.metric)
		}
		f.points = append(f.points, point{at, value})
	}
	return nil
}

// dataSize is the size of the data file with what SQLite keeps beside it.
func (w *world) dataSize() (size int64, err error) {
	files, err := filepath.Glob(filepath.Join(w.dir, dataFile) + "*")
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if os.IsNotExist(err) {
			continue // it was there a moment ago
		}
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, nil
}
