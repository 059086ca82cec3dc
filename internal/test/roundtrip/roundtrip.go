// Package roundtrip holds the codecs of stored documents to their types, for
// tests: every field of a type reads as it was written. The fields are found by
// reflection, so a field that is added to a type is tested without a change here.
package roundtrip

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Codec is how a type is stored. Fields are named by their path, such as
// Session.Actor; elements of lists and maps have the path of their field.
type Codec[T any] struct {
	// Through writes a value to a document, and reads it from there.
	Through func(v T) T
	// Fixed are the values of fields that take no other: of an enumeration, or of
	// what depends on another field.
	Fixed map[string]any
	// Lost are the fields that are not stored, with the reason.
	Lost map[string]string
}

// Check fails the test for every field that does not read as it was written.
func Check[T any](t testing.TB, c Codec[T]) {
	t.Helper()
	for _, problem := range Problems(c) {
		t.Error(problem)
	}
}

// Problems names every field that does not read as it was written, and every
// entry of Fixed and Lost that the type does not bear out. Each field has a value
// of its own, so two that are exchanged are found. Booleans are false at first,
// then true one at a time.
func Problems[T any](c Codec[T]) (problems []string) {
	unset := &filler{fixed: c.Fixed, met: map[string]bool{}}
	unset.fill(reflect.ValueOf(new(T)).Elem(), "")
	for _, name := range unset.unknown(c.Lost) {
		problems = append(problems, name+" is no field of "+reflect.TypeFor[T]().String())
	}
	lost := map[string]bool{}
	for _, truth := range append([]string{""}, unset.truths...) {
		wrote, read := filled[T](c.Fixed, truth), c.Through(filled[T](c.Fixed, truth))
		differences(reflect.ValueOf(&wrote).Elem(), reflect.ValueOf(&read).Elem(), "", func(name, problem string) {
			if _, expected := c.Lost[name]; expected {
				lost[name] = true
				return
			}
			problem = name + ": " + problem
			if !slices.Contains(problems, problem) {
				problems = append(problems, problem)
			}
		})
	}
	for name := range c.Lost {
		if unset.met[name] && !lost[name] {
			problems = append(problems, name+" is stored: take it off the list of lost fields")
		}
	}
	slices.Sort(problems)
	return problems
}

// differences names the fields in which read is another than wrote. Both are
// addressable.
func differences(wrote, read reflect.Value, name string, found func(name, problem string)) {
	wrote, read = open(wrote), open(read)
	switch kind := wrote.Kind(); {
	case isLeaf(wrote.Type()):
		if !reflect.DeepEqual(wrote.Interface(), read.Interface()) {
			found(name, fmt.Sprintf("wrote %v, read %v", wrote, read))
		}
	case kind == reflect.Struct:
		for i := range wrote.NumField() {
			differences(wrote.Field(i), read.Field(i), below(name, wrote.Type().Field(i)), found)
		}
	case kind == reflect.Pointer && !read.IsNil():
		differences(wrote.Elem(), read.Elem(), name, found)
	case kind == reflect.Slice && wrote.Len() == read.Len():
		for i := range wrote.Len() {
			differences(wrote.Index(i), read.Index(i), name, found)
		}
	case kind == reflect.Map && wrote.Len() == read.Len():
		for _, key := range wrote.MapKeys() {
			value := read.MapIndex(key)
			if !value.IsValid() {
				found(name, fmt.Sprintf("wrote %v, which was not read", key))
				continue
			}
			differences(addressable(wrote.MapIndex(key)), addressable(value), name, found)
		}
	default:
		found(name, fmt.Sprintf("wrote %v, read %v", wrote, read))
	}
}

// addressable is a copy of an element of a map, whose fields can be opened.
func addressable(v reflect.Value) reflect.Value {
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	return copied
}

// below names a field; what is embedded has the names of what holds it.
func below(name string, field reflect.StructField) string {
	if field.Anonymous {
		return name
	}
	return strings.TrimPrefix(name+"."+field.Name, ".")
}
