package keyring

// Settings name the keys that encrypt the hosting keys of configs.
type Settings struct {
	HostingKeys string `help:"File with the keys that encrypt the hosting keys of configs and the secrets of webhooks, or env:NAME for an environment variable that holds them; configs and allocators need the same ones. 'matchmaker keys hosting FILE' makes it. Without it configs cannot have hosting keys, and projects no webhooks." placeholder:"FILE" group:"connections"`
}
