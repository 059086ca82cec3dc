package poll

import (
	"errors"
	"io/fs"
	"sync"
	"time"
)

// zones caches time.LoadLocation, which reads files at each call, by valid names alone.
var zones sync.Map

// Zone finds the time zone of a poll by its IANA name; "" is UTC.
func Zone(name string) (*time.Location, error) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	switch {
	case name == "Local":
		return nil, errors.New("the machine's own time zone is no poll's")
	case name != "" && !fs.ValidPath(name):
		return nil, errors.New("a time zone's name has parts, and one slash between two of them")
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	zones.Store(name, location)
	return location, nil
}
