package roundtrip

import (
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"questscheduler/rules"
)

// filler gives each field a value of its own.
type filler struct {
	fixed map[string]any
	// truth is the boolean that is true; "" for none. Times are midnights and
	// fingerprints whole days where there is one, since it may be allDay.
	truth string
	// truths are the booleans and met all fields that were filled.
	truths []string
	met    map[string]bool
	count  int64
}

// filled is a value whose fields are filled in, the same each time.
func filled[T any](fixed map[string]any, truth string) (v T) {
	f := &filler{fixed: fixed, met: map[string]bool{}, truth: truth}
	f.fill(reflect.ValueOf(&v).Elem(), "")
	return v
}

// first is the day after which times are filled in.
var first = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// isLeaf reports whether a type is filled as a whole and not field by field.
func isLeaf(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[rules.Fingerprint]()
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return false
	default:
		return true
	}
}

// fill fills an addressable value. It panics at a kind of value that documents
// do not hold.
func (f *filler) fill(v reflect.Value, name string) {
	v = open(v)
	f.count++
	f.met[name] = true
	if f.isFixed(v, name) {
		return
	}
	switch t := v.Type(); {
	case t == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(f.instant()))
	case t == reflect.TypeFor[rules.Fingerprint]():
		at := rules.Timed(f.instant(), f.instant().Add(day))
		at.AllDay = f.truth != ""
		v.Set(reflect.ValueOf(at))
	default:
		f.fillKind(v, name)
	}
}

func (f *filler) fillKind(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s-%d", name, f.count))
	case reflect.Bool:
		v.SetBool(f.truth == name)
		if !slices.Contains(f.truths, name) {
			f.truths = append(f.truths, name)
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1000 + f.count)
	case reflect.Uint8:
		v.SetUint(uint64(f.count) % 256)
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), below(name, v.Type().Field(i)))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.fill(v.Index(i), name)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, name)
			f.fill(value, name)
			v.SetMapIndex(key, value)
		}
	default:
		panic(fmt.Sprintf("roundtrip: %s is a %s, which is filled with nothing: give it a value in Fixed", name, v.Type()))
	}
}

// isFixed fills a field whose value is given.
func (f *filler) isFixed(v reflect.Value, name string) bool {
	value, is := f.fixed[name]
	if is && reflect.ValueOf(value).Type().ConvertibleTo(v.Type()) {
		v.Set(reflect.ValueOf(value).Convert(v.Type()))
		return true
	}
	return false
}

// instant is a time of its own, to the millisecond.
func (f *filler) instant() time.Time {
	at := first.Add(time.Duration(f.count) * day)
	if f.truth != "" {
		return at
	}
	return at.Add(time.Duration(f.count) * (time.Minute + time.Millisecond))
}

// unknown are names that are given, and are no fields.
func (f *filler) unknown(lost map[string]string) (names []string) {
	for name := range f.fixed {
		if !f.met[name] {
			names = append(names, name)
		}
	}
	for name := range lost {
		if !f.met[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// open lets a field that is not exported be read and set: documents of a package
// of its own have such.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() //nolint:gosec // the one way to a field that is not exported
}

// Fields gives, by the path of each field of a type, a value in which that one alone
// is filled, and what it is reached through. Fields of lists, maps and instants are
// filled as one, and booleans are true.
func Fields[T any](except ...string) map[string]T {
	all := map[string]T{}
	var walk func(t reflect.Type, name string, reach func(v reflect.Value) reflect.Value)
	walk = func(t reflect.Type, name string, reach func(v reflect.Value) reflect.Value) {
		switch {
		case slices.Contains(except, name):
		case t.Kind() == reflect.Pointer:
			walk(t.Elem(), name, func(v reflect.Value) reflect.Value {
				v = reach(v)
				if v.IsNil() {
					v.Set(reflect.New(t.Elem()))
				}
				return v.Elem()
			})
		case t.Kind() == reflect.Struct && !isLeaf(t):
			for i := range t.NumField() {
				walk(t.Field(i).Type, below(name, t.Field(i)), func(v reflect.Value) reflect.Value { return open(reach(v).Field(i)) })
			}
		default:
			v := reflect.New(reflect.TypeFor[T]()).Elem()
			f := &filler{met: map[string]bool{}, truth: name}
			f.fill(reach(v), name)
			all[name] = v.Interface().(T) //nolint:forcetypeassert // it was made of the type
		}
	}
	walk(reflect.TypeFor[T](), "", func(v reflect.Value) reflect.Value { return v })
	return all
}
