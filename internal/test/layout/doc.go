// Package layout holds the shape of the module: which package may import
// which, that each says what it is for, and that names say something. It has
// tests alone; table_test.go is the place to change when a package is added.
package layout
