package main

// version is set by the build: -ldflags "-X main.version=…".
var version = "dev"
