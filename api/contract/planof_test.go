package contract

func planOf(path string) *Plan {
	for i := range Endpoints {
		if Endpoints[i].Path == path {
			return NewPlan(&Endpoints[i])
		}
	}
	panic("no endpoint " + path)
}

// goodIdentifier is that of my-app and me@example.org.
const goodIdentifier = "bXktYXBwOm1lQGV4YW1wbGUub3Jn"
