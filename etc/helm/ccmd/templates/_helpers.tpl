{{- define "ccmd.name" -}}
{{ .Values.fullnameOverride | default "ccmd" }}
{{- end }}
{{- define "ccmd.labels" -}}
app.kubernetes.io/name: ccmd
app.kubernetes.io/component: cloud-controller-manager
{{- end }}
