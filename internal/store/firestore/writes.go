package firestore

import (
	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// writes are buffered calls in Firestore's words. It carries them out in their
// order, those of one document one on the other.
func (s *Store) writes(calls []txn.Write) []*pb.Write {
	out := make([]*pb.Write, len(calls))
	for i, call := range calls {
		out[i] = s.write(call)
	}
	return out
}

func (s *Store) write(call txn.Write) *pb.Write {
	name := s.name(call.Path)
	switch call.Kind {
	case txn.Delete:
		return &pb.Write{Operation: &pb.Write_Delete{Delete: name}}
	case txn.Create:
		return &pb.Write{Operation: document(name, call.Data), CurrentDocument: exists(false)}
	case txn.Set:
		return &pb.Write{Operation: document(name, call.Data)}
	case txn.Update:
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

// masked writes named fields: a field that the mask names and the document
// lacks is removed, and those that it does not name stay.
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

// put writes a normalised value into data, which holds nothing in its way:
// no update's path lies below another's.
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

// copied is a deep copy of a document's fields.
func copied(data map[string]any) map[string]any { return txn.Copy(data) }
