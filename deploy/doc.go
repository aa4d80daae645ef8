// Package deploy holds what the services are deployed with: a Helm chart, a compose file's settings,
// a gateway. Its tests render the chart with Helm's own library and decode every object strictly
// against the types of Kubernetes; nothing here is linked into the product.
package deploy
