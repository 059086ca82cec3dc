package config

import "strings"

// demoProject begins the ids of Firebase projects that exist on emulators alone.
const demoProject = "demo-"

// Variables of other programs.
const (
	// AuthEmulatorVariable is the address of the Firebase Auth emulator.
	AuthEmulatorVariable = "FIREBASE_AUTH_EMULATOR_HOST"
	// storeEmulatorVariable is the address of an emulator of Firestore.
	storeEmulatorVariable = "FIRESTORE_EMULATOR_HOST"
	// serviceVariable is set by Cloud Run.
	serviceVariable = "K_SERVICE"
)

// Surroundings are what the environment says beside the settings.
type Surroundings struct {
	// AuthEmulator is AuthEmulatorVariable's value, and StoreEmulator that of
	// FIRESTORE_EMULATOR_HOST; "" for none.
	AuthEmulator, StoreEmulator string
	// CloudRun reports whether this is a service of Cloud Run.
	CloudRun bool
}

// Production says why this is a deployment that users rely on, in which nothing for
// development may be switched on; "" if it is none. The embedded server on one's own
// machine is none.
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

// UnsignedTokens reports whether users sign in at the Firebase Auth emulator, whose
// tokens are unsigned.
func (c Config) UnsignedTokens() bool { return c.Auth == AuthFirebase && c.Around.AuthEmulator != "" }

// DocumentsEmulated reports whether all documents are on an emulator of Firestore.
func (c Config) DocumentsEmulated() bool {
	return c.Store == StoreFirestore && c.FirestoreEndpoint != ""
}

// checkProduction keeps what would let anybody in out of production.
func (c Config) checkProduction(p *Problems) {
	why := c.Production()
	switch {
	case c.UnsignedTokens() && why != "":
		*p = append(*p, Problem{AuthEmulatorVariable, "is set, by which anybody could speak for anybody, and " + why + "; unset it"})
	case c.UnsignedTokens() && c.FirebaseProject != "" && !c.DocumentsEmulated() && !strings.HasPrefix(c.FirebaseProject, demoProject):
		*p = append(*p, Problem{AuthEmulatorVariable, "is set, and unsigned tokens are not accepted for a project that may exist, " +
			"unless its documents are on an emulator too; unset it, or have QS_FIREBASE_PROJECT begin with " + demoProject +
			", or set QS_STORE to firestore and QS_FIRESTORE_ENDPOINT"})
	case c.UnsignedTokens() && c.FirebaseRevocation == On:
		p.add("FIREBASE_REVOCATION", "is on, and the Firebase Auth emulator is not asked; set it to off")
	}
	if c.Store == StoreFirestore && c.FirestoreEndpoint == "" && c.Around.StoreEmulator != "" {
		*p = append(*p, Problem{storeEmulatorVariable,
			"is set, and this program does not follow it; unset it, or set QS_FIRESTORE_ENDPOINT to its value"})
	}
	if why == "" {
		return
	}
	p.require(!c.Around.CloudRun || c.Store != StoreSQLite, "STORE",
		"is sqlite, and this is Cloud Run, where a file is gone with its instance; set it to firestore")
	p.require(!c.Around.CloudRun || c.Queue != QueueEmbedded, "QUEUE",
		"is embedded, and this is Cloud Run, where nothing runs between requests; set it to cloudtasks")
	p.require(c.Auth != AuthLocal, "AUTH", "is local, and %s, where people sign in with Firebase; set it to firebase", why)
	p.require(c.MachineIssuer == "", "MACHINE_ISSUER", "is set, and %s, where Google vouches for machines; unset it", why)
}
