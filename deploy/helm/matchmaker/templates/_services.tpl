{{/* 'make generate' writes this file from services/internal/platform/catalog, which explains it. */}}
{{- define "matchmaker.services" -}}
ticket: { routes: true, issuers: true, hostingKeys: false, modules: false, seats: true, regions: true, hosting: false, webhooks: false }
config: { routes: true, issuers: true, hostingKeys: true, modules: false, seats: false, regions: false, hosting: false, webhooks: true }
registry: { routes: true, issuers: true, hostingKeys: false, modules: true, seats: false, regions: false, hosting: false, webhooks: false }
runner: { routes: false, issuers: false, hostingKeys: false, modules: true, seats: false, regions: false, hosting: false, webhooks: false }
director: { routes: false, issuers: false, hostingKeys: false, modules: false, seats: false, regions: false, hosting: false, webhooks: false }
allocator: { routes: true, issuers: false, hostingKeys: true, modules: false, seats: false, regions: false, hosting: true, webhooks: false }
backfill: { routes: true, issuers: true, hostingKeys: false, modules: false, seats: false, regions: false, hosting: false, webhooks: false }
party: { routes: true, issuers: true, hostingKeys: false, modules: false, seats: false, regions: true, hosting: false, webhooks: false }
{{- end }}

{{/*
The paths of each service: a service and a regular expression a line. All other paths are the Tickets API's. It answers
those that do not exist, too, as the contract has it.
*/}}
{{- define "matchmaker.routes" -}}
config ^/[^/]+/matchmaking/api/v1/configs(/.*)?$
config ^/[^/]+/matchmaking/api/v1/settings(/.*)?$
config ^/[^/]+/matchmaking/api/v1/changes$
config ^/[^/]+/matchmaking/api/v1/simulations(/.*)?$
config ^/[^/]+/matchmaking/api/v1/webhooks(/.*)?$
registry ^/[^/]+/matchmaking/api/v1/functions(/.*)?$
allocator ^/[^/]+/matchmaking/api/v1/servers(/.*)?$
allocator ^/\.well-known/server-keys\.json$
backfill ^/[^/]+/matchmaking(/api/v1)?/api/v2/backfill(/.*)?$
backfill ^/api/v2/backfill(/.*)?$
backfill ^/[^/]+/matchmaking/api/v1/backfill$
party ^/[^/]+/matchmaking/api/v1/parties(/.*)?$
party ^/[^/]+/matchmaking/api/v1/players/[^/]+$
{{- end }}
