package outbox

// Held is how many entries of a kind a pool holds in memory.
func Held(p *Pool, kind string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lane(kind).known)
}
