package api

// NewWithPatience is New with another patience for bodies.
var NewWithPatience = build
