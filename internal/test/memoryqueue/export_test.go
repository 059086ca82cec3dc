package memoryqueue

// NamesTaken is how many names the queue remembers.
func NamesTaken(q *Queue) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.names.taken)
}
