//go:build race

package main

// raceDetector tells whether the tests run under it: it makes a world some ten
// times as long.
const raceDetector = true
