// Package kubernetes tries the chart and the provider for Agones on a real control plane. Its module pins the programs
// of that control plane, and nothing of it ships. `make kubernetes` builds the programs and runs the tests.
package kubernetes
