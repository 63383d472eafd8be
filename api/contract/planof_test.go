package contract

// planOf returns the plan of the endpoint with a path.
func planOf(path string) *Plan {
	for i := range Endpoints {
		if Endpoints[i].Path == path {
			return NewPlan(&Endpoints[i], Rows)
		}
	}
	panic("no endpoint " + path)
}

// goodIdentifier is the identifier of my-app and me@example.org.
const goodIdentifier = "bXktYXBwOm1lQGV4YW1wbGUub3Jn"
