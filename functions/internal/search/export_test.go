package search

// Regionless is a rule set without regions, for tests.
var Regionless = regionless
