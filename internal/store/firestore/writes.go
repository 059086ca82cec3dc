package firestore

import (
	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"questscheduler/internal/store"
)

// writes translates buffered calls. Firestore applies them in their order.
func (s *Store) writes(calls store.Writes) []*pb.Write {
	out := make([]*pb.Write, len(calls))
	for i, call := range calls {
		out[i] = s.write(call)
	}
	return out
}

func (s *Store) write(call store.Write) *pb.Write {
	name := s.name(call.Path)
	switch call.Kind {
	case store.Deletes:
		return &pb.Write{Operation: &pb.Write_Delete{Delete: name}}
	case store.Creates:
		return &pb.Write{Operation: document(name, call.Data), CurrentDocument: exists(false)}
	case store.Sets:
		return &pb.Write{Operation: document(name, call.Data)}
	case store.Updates:
		write := masked(name, call.Updates)
		write.CurrentDocument = exists(true)
		return write
	default:
		return masked(name, call.Updates)
	}
}

func document(name string, data map[string]any) *pb.Write_Update {
	return &pb.Write_Update{Update: &pb.Document{Name: name, Fields: encodeMap(data)}}
}

func exists(there bool) *pb.Precondition {
	return &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: there}}
}

// masked writes named fields: Firestore removes a field that is in the mask and not in the
// document, and leaves those outside the mask.
func masked(name string, updates []store.Update) *pb.Write {
	data := map[string]any{}
	mask := &pb.DocumentMask{}
	for _, update := range updates {
		mask.FieldPaths = append(mask.FieldPaths, fieldName(update.Path))
		if !store.IsDelete(update.Value) {
			put(data, update.Path, update.Value)
		}
	}
	return &pb.Write{Operation: document(name, data), UpdateMask: mask}
}

// put sets a field. No update's path lies below another's, so nothing is overwritten.
func put(data map[string]any, path store.FieldPath, value any) {
	for _, name := range path[:len(path)-1] {
		next, ok := data[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			data[name] = next
		}
		data = next
	}
	data[path[len(path)-1]] = value
}
