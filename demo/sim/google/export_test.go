package google

// Method is one method of the Calendar API that the simulator serves.
type Method struct {
	Name, Verb, Path string
	Scopes           []string
}

// Methods are all of them.
func Methods() []Method {
	var list []Method
	for _, r := range apiRoutes() {
		list = append(list, Method{r.name, r.verb, r.path[1:], r.scope})
	}
	return list
}
