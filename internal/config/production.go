package config

import "strings"

// demoProject begins the ids of Firebase projects that exist on emulators alone.
const demoProject = "demo-"

// Variables of the environment that are others', and say where we are.
const (
	// AuthEmulatorVariable says to Google's own clients where the Firebase Auth
	// emulator is.
	AuthEmulatorVariable = "FIREBASE_AUTH_EMULATOR_HOST"
	// serviceVariable names the service, and is set by Cloud Run.
	serviceVariable = "K_SERVICE"
)

// Surroundings are what the environment says beside the settings.
type Surroundings struct {
	// AuthEmulator is AuthEmulatorVariable's value; "" for none.
	AuthEmulator string
	// CloudRun tells that this is a service of Cloud Run.
	CloudRun bool
}

func surroundings(environ []string) Surroundings {
	var around Surroundings
	for _, entry := range environ {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case AuthEmulatorVariable:
			around.AuthEmulator = value
		case serviceVariable:
			around.CloudRun = value != ""
		}
	}
	return around
}

// Production says by what a deployment is known that people rely on, and in
// which nothing that is for development may be switched on; "" where it is none.
// The embedded default on a machine of one's own is not known from a trial of
// it: all that it has is its own.
func (c Config) Production() string {
	switch {
	case c.Around.CloudRun:
		return "this is Cloud Run"
	case c.Store == StoreFirestore && c.FirestoreEndpoint == "":
		return "the documents are in Firestore itself"
	case c.Queue == QueueCloudTasks && c.CloudTasksEndpoint == "":
		return "tasks are in Cloud Tasks itself"
	default:
		return ""
	}
}

// UsesFile tells that documents or tasks are in the file at SQLitePath.
func (c Config) UsesFile() bool { return c.Store == StoreSQLite || c.Queue == QueueRiver }

// UnsignedTokens tells that people sign in at the Firebase Auth emulator, whose
// tokens nobody signs.
func (c Config) UnsignedTokens() bool { return c.Auth == AuthFirebase && c.Around.AuthEmulator != "" }

// DocumentsEmulated tells that all documents are on an emulator of Firestore.
func (c Config) DocumentsEmulated() bool {
	return c.Store == StoreFirestore && c.FirestoreEndpoint != ""
}

// checkProduction keeps what anybody could get in by out of production.
func (c Config) checkProduction(p *Problems) {
	why := c.Production()
	switch {
	case c.UnsignedTokens() && why != "":
		*p = append(*p, Problem{AuthEmulatorVariable, "is set, by which anybody could speak for anybody, and " + why + "; unset it"})
	case c.UnsignedTokens() && c.FirebaseProject != "" && !c.DocumentsEmulated() && !strings.HasPrefix(c.FirebaseProject, demoProject):
		*p = append(*p, Problem{AuthEmulatorVariable, "is set, and unsigned tokens are taken for no project that may exist, unless its documents are on an emulator too; " +
			"unset it, or have QS_FIREBASE_PROJECT begin with " + demoProject + ", or set QS_STORE to firestore and QS_FIRESTORE_ENDPOINT"})
	case c.UnsignedTokens() && c.FirebaseRevocation == On:
		p.add("FIREBASE_REVOCATION", "is on, and the Firebase Auth emulator is not asked; set it to off")
	}
	if why == "" {
		return
	}
	// Its files are in memory and end with their instance, and it stands still
	// between requests.
	if c.Around.CloudRun && c.Store == StoreSQLite {
		p.add("STORE", "is sqlite, and this is Cloud Run, where a file is gone with its instance; set it to firestore")
	}
	if c.Around.CloudRun && c.Queue == QueueRiver {
		p.add("QUEUE", "is river, and this is Cloud Run, where nothing runs between requests; set it to cloudtasks")
	}
	if c.Auth == AuthLocal {
		p.add("AUTH", "is local, and %s, where people sign in with Firebase; set it to firebase", why)
	}
	if c.MachineIssuer != "" {
		p.add("MACHINE_ISSUER", "is set, and %s, where Google vouches for machines; unset it", why)
	}
}
