// Package compose has the tests of make compose. They start a Docker engine in a network namespace of its own, make the
// images of docker-compose.yml without a registry, and run it as the README says.
package compose
