//go:build race

package main

// raceDetector reports whether the tests run under it: it makes a world some ten
// times as slow.
const raceDetector = true
