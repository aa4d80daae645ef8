{{/* The release's name for things, without the chart's name twice. */}}
{{- define "matchmaker.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels that never change: selectors. Takes (dict "root" $ "service" name). */}}
{{- define "matchmaker.selector" -}}
app.kubernetes.io/name: matchmaker
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .service }}
{{- end }}

{{- define "matchmaker.labels" -}}
{{ include "matchmaker.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: matchmaker
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "matchmaker.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The Secrets with the URLs of Redis and NATS. */}}
{{- define "matchmaker.redisSecret" -}}
{{- if .Values.redis.bundled.enabled }}{{ include "matchmaker.name" . }}-redis{{ else }}{{ required "redis.existingSecret: name a Secret with the key url, or set redis.bundled.enabled" .Values.redis.existingSecret }}{{ end }}
{{- end }}

{{- define "matchmaker.natsSecret" -}}
{{- if .Values.nats.bundled.enabled }}{{ include "matchmaker.name" . }}-nats{{ else }}{{ required "nats.existingSecret: name a Secret with the key url, or set nats.bundled.enabled" .Values.nats.existingSecret }}{{ end }}
{{- end }}

{{- define "matchmaker.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "matchmaker.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Replicas on other nodes and zones. Takes (dict "root" $ "service" name). */}}
{{- define "matchmaker.spread" -}}
{{- $who := . }}
{{- if .root.Values.topologySpread.enabled }}
topologySpreadConstraints:
  {{- range $key, $unsatisfiable := dict "kubernetes.io/hostname" .root.Values.topologySpread.nodes "topology.kubernetes.io/zone" .root.Values.topologySpread.zones }}
  {{- with $unsatisfiable }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: {{ . }}
    nodeTaintsPolicy: Honor
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels: {{- include "matchmaker.selector" $who | nindent 8 }}
  {{- end }}
  {{- end }}
{{- end }}
{{- end }}
