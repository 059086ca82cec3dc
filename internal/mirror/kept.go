package mirror

import "questscheduler/internal/store"

const keptCopies = "keptCopies"

// KeptPath is where the document of a kept copy is: its owner disconnected an account from a
// group and kept the group's events there, so the mirror's document is gone and its event is
// not. It has the fields of the mirror (Encode). The event that it names is no stray and must
// not be deleted. The document goes as mappings do.
func KeptPath(mirrorID string) store.Path { return store.Doc(keptCopies, mirrorID) }
