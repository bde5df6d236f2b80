{{- define "ccmd.product" -}}
{{ .Values.nameOverride | default .Chart.Name }}
{{- end }}
{{- define "ccmd.name" -}}
{{ .Values.fullnameOverride | default (include "ccmd.product" .) }}
{{- end }}
{{- define "ccmd.labels" -}}
app.kubernetes.io/name: {{ include "ccmd.product" . }}
app.kubernetes.io/component: cloud-controller-manager
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "ccmd.account" -}}
{{ .Values.serviceAccount.name | default (ternary (include "ccmd.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}
{{- define "ccmd.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Whether plugin gateway is used, and needs its rights: "" = no. */}}
{{- define "ccmd.gateway" -}}
{{- if .Values.config }}{{ if regexMatch "\"([^\"]*/)?gateway([.]so)?\"" .Values.config }}yes{{ end }}
{{- else if get (.Values.plugins.gateway | default dict) "enabled" }}yes{{ end }}
{{- end }}

{{/* What stands behind a name in ccmd.conf. */}}
{{- define "ccmd.value" -}}
{{- if kindIs "map" . }}{
{{- range $name, $value := . }}
{{- if not (kindIs "invalid" $value) }}
{{ printf "%s%s" $name (ternary ": " " = " (kindIs "map" $value)) | indent 4 }}{{ include "ccmd.value" $value | indent 4 | trim }};
{{- end }}
{{- end }}
}
{{- else if kindIs "slice" . }}[{{ range $at, $value := . }}{{ if $at }},{{ end }} {{ include "ccmd.value" $value }}{{ end }} ]
{{- else if kindIs "string" . }}{{ . | quote }}
{{- else if kindIs "bool" . }}{{ . }}
{{- else }}{{ int64 . }}
{{- end }}
{{- end }}

{{- define "ccmd.plugin" -}}
{ {{ range $name, $value := . }}{{ $name }} = {{ include "ccmd.value" $value }}; {{ end }}}
{{- end }}

{{/* The plugins that are switched on, in an order of their own. */}}
{{- define "ccmd.plugins" -}}
{{- $rows := list }}
{{- range $name := list "clb" "nlb" "node" "route" "gateway" }}
{{- $options := get $.Values.plugins $name | default dict }}
{{- if (ternary (get $options "enabled") true (hasKey $options "enabled")) }}
{{- if and (eq $name "route") (not (get $options "cluster_cidr")) }}
{{- fail "plugins.route.cluster_cidr is required: the networks of the pods, such as --set plugins.route.cluster_cidr=172.20.0.0/16" }}
{{- end }}
{{- $rows = append $rows (include "ccmd.plugin" (merge (dict "name" $name) (omit $options "enabled"))) }}
{{- end }}
{{- end }}
{{- range .Values.extraPlugins }}
{{- $file := printf "/usr/local/lib/ccmd/plugins/%s.so" (get . "name") }}
{{- $rows = append $rows (include "ccmd.plugin" (merge (dict "name" (get . "name") "file" $file) (get . "options" | default dict))) }}
{{- end }}
{{- if not $rows }}{{ fail "plugins: all of them are switched off" }}{{ end }}
{{- join ",\n" $rows }}
{{- end }}

{{/* The whole of ccmd.conf: what `config` says, or what the other values come to. */}}
{{- define "ccmd.config" -}}
{{- if .Values.config }}
{{- if .Values.clusterId }}{{ fail "config is the whole configuration: clusterId belongs into it, as alicloud.cluster_id" }}{{ end }}
{{- .Values.config | trim }}
{{- else }}
{{- $credentials := dict "source" (ternary "file" "auto" (not (empty .Values.credentialsSecret))) }}
{{- if .Values.credentialsSecret }}
{{- $_ := set $credentials "file" (printf "/etc/ccmd-credentials/%s" .Values.credentialsKey) }}
{{- end }}
{{- $cluster := required "clusterId is required: a unique id of this cluster, part of tags and names in the cloud, such as --set clusterId=c-prod; or give a whole configuration with --set-file config=ccmd.conf" .Values.clusterId }}
{{- $listen := printf "%s:%d" .Values.adminHost (int64 .Values.adminPort) }}
{{- $top := dict
  "kubernetes" (dict "kubeconfig" "")
  "leader_election" (dict "enabled" true "namespace" .Values.leaseNamespace "name" .Values.leaseName)
  "admin" (dict "listen" $listen)
  "log" (dict "level" .Values.logLevel "format" .Values.logFormat)
  "alicloud" (dict "cluster_id" $cluster "region" .Values.region "vpc_id" .Values.vpcId "vswitch_ids" .Values.vswitchIds
    "network" .Values.network "credentials" $credentials) }}
{{- if .Values.metrics.enabled }}
{{- $_ := set $top "metrics" (dict "listen" (printf "%s:%d" .Values.metrics.host (int64 .Values.metrics.port))) }}
{{- end }}
{{- range $name, $value := mergeOverwrite $top (deepCopy .Values.options) }}
{{- if kindIs "map" $value }}
{{ $name }}: {{ include "ccmd.value" $value }};
{{- else }}
{{ $name }} = {{ include "ccmd.value" $value }};
{{- end }}
{{- end }}
plugins = (
{{ include "ccmd.plugins" . | indent 4 }}
);
{{- end }}
{{- end }}

{{/* Prometheus gives the job this name, so alerts and dashboard find it. */}}
{{- define "ccmd.relabelings" -}}
relabelings:
- targetLabel: job
  replacement: {{ include "ccmd.name" . }}
{{- end }}
