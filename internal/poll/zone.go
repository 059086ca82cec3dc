package poll

import (
	"io/fs"
	"sync"
	"time"

	"questscheduler/fault"
)

// zones caches time.LoadLocation, which reads files at each call, by valid names alone.
var zones sync.Map

// Zone finds a time zone by its IANA name; "" is UTC. Invalid: there is none, or it is the
// machine's own.
func Zone(name string) (*time.Location, error) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" || name != "" && !fs.ValidPath(name) {
		return nil, fault.Field("timezone", "must be an IANA time zone such as Europe/Berlin")
	}
	zones.Store(name, location)
	return location, nil
}
