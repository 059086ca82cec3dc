package firestore

import (
	"strings"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"questscheduler/internal/store"
)

// Foreign is a value of a type that the port lacks (bytes, reference, geographical point),
// written by other programs. Lenient readers ignore it, and writes refuse it.
type Foreign struct{ value *pb.Value }

func encodeMap(data map[string]any) map[string]*pb.Value {
	fields := make(map[string]*pb.Value, len(data))
	for name, value := range data {
		fields[name] = encode(value)
	}
	return fields
}

// encode converts a normalised value.
func encode(value any) *pb.Value {
	switch v := value.(type) {
	case nil:
		return &pb.Value{ValueType: &pb.Value_NullValue{NullValue: structpb.NullValue_NULL_VALUE}}
	case bool:
		return &pb.Value{ValueType: &pb.Value_BooleanValue{BooleanValue: v}}
	case int64:
		return &pb.Value{ValueType: &pb.Value_IntegerValue{IntegerValue: v}}
	case float64:
		return &pb.Value{ValueType: &pb.Value_DoubleValue{DoubleValue: v}}
	case time.Time:
		return &pb.Value{ValueType: &pb.Value_TimestampValue{TimestampValue: timestamppb.New(v)}}
	case string:
		return &pb.Value{ValueType: &pb.Value_StringValue{StringValue: v}}
	case []any:
		items := make([]*pb.Value, len(v))
		for i, item := range v {
			items[i] = encode(item)
		}
		return &pb.Value{ValueType: &pb.Value_ArrayValue{ArrayValue: &pb.ArrayValue{Values: items}}}
	case map[string]any:
		return &pb.Value{ValueType: &pb.Value_MapValue{MapValue: &pb.MapValue{Fields: encodeMap(v)}}}
	}
	// Normalised data holds nothing else: a bug of this driver.
	panic("firestore: a value was not normalised")
}

// decodeMap is never nil.
func decodeMap(fields map[string]*pb.Value) map[string]any {
	data := make(map[string]any, len(fields))
	for name, value := range fields {
		data[name] = decode(value)
	}
	return data
}

func decode(value *pb.Value) any {
	switch v := value.GetValueType().(type) {
	case *pb.Value_NullValue:
		return nil
	case *pb.Value_BooleanValue:
		return v.BooleanValue
	case *pb.Value_IntegerValue:
		return v.IntegerValue
	case *pb.Value_DoubleValue:
		return v.DoubleValue
	case *pb.Value_TimestampValue:
		return store.Instant(v.TimestampValue.AsTime())
	case *pb.Value_StringValue:
		return v.StringValue
	case *pb.Value_ArrayValue:
		list := make([]any, len(v.ArrayValue.GetValues()))
		for i, item := range v.ArrayValue.GetValues() {
			list[i] = decode(item)
		}
		return list
	case *pb.Value_MapValue:
		return decodeMap(v.MapValue.GetFields())
	default:
		return Foreign{value}
	}
}

// fieldName is a field path in the syntax of masks, filters and index definitions: names
// that are not plain words are quoted.
func fieldName(path store.FieldPath) string {
	names := make([]string, len(path))
	for i, name := range path {
		names[i] = name
		if !isWord(name) {
			names[i] = "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name) + "`"
		}
	}
	return strings.Join(names, ".")
}

func isWord(name string) bool {
	for i, letter := range name {
		switch {
		case letter == '_', 'a' <= letter && letter <= 'z', 'A' <= letter && letter <= 'Z':
		case i > 0 && '0' <= letter && letter <= '9':
		default:
			return false
		}
	}
	return name != ""
}
