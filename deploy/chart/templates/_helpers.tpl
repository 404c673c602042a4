{{/* The name of what there is one of: the release's, unless it is the chart's own already. */}}
{{- define "cubeloom.name" -}}
{{- if contains "cubeloom" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}{{ printf "%s-cubeloom" (.Release.Name | trunc 43 | trimSuffix "-") }}{{ end }}
{{- end }}

{{/* A name for what belongs to no namespace: releases of other namespaces have theirs. */}}
{{- define "cubeloom.wide" -}}
{{ .Release.Namespace }}-{{ include "cubeloom.name" . }}
{{- end }}

{{- define "cubeloom.selector" -}}
app.kubernetes.io/name: cubeloom
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* `managed-by` is never `cubeloom` here: that is how the server knows its jobs. */}}
{{- define "cubeloom.labels" -}}
{{ include "cubeloom.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The namespaces of the jobs, as JSON. */}}
{{- define "cubeloom.namespaces" -}}
{{ .Values.jobs.namespaces | default (list .Release.Namespace) | uniq | toJson }}
{{- end }}

{{/* The address that people use. */}}
{{- define "cubeloom.url" -}}
{{- if .Values.url }}{{ .Values.url }}
{{- else if .Values.ingress.enabled }}{{ ternary "https" "http" (ne .Values.ingress.tlsSecret "") }}://{{ .Values.ingress.host }}
{{- else }}http://127.0.0.1:8080{{ end }}
{{- end }}

{{- define "cubeloom.image" -}}
{{ required "image.repository: name the image of the server (deploy/image/Dockerfile makes it)" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
