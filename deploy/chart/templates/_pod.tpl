{{/* The server's pod. */}}
{{- define "cubeloom.pod" -}}
serviceAccountName: {{ include "cubeloom.name" . }}
# It speaks to the API server with its account.
automountServiceAccountToken: true
# A Service `cubeloom` would give it variables CUBELOOM_..., which it would take for settings.
enableServiceLinks: false
# It writes down what it knows, which takes a second; jobs go on without it.
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.uid }}
  runAsGroup: {{ .Values.uid }}
  fsGroup: {{ .Values.uid }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: server
    image: {{ include "cubeloom.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    command: [/usr/local/bin/cubeloom, serve]
    env: {{- include "cubeloom.environment" . | nindent 6 }}
    ports:
      - name: http
        containerPort: 8080
      {{- if .Values.metrics.enabled }}
      - name: metrics
        containerPort: {{ .Values.metrics.port }}
      {{- end }}
    # The first start makes the database; a later one may have to change a large one.
    startupProbe:
      httpGet: {path: /api/v1/health, port: http}
      periodSeconds: 2
      failureThreshold: 300
    readinessProbe:
      httpGet: {path: /api/v1/ready, port: http}
      periodSeconds: 5
      timeoutSeconds: 5
    # Neither its health nor whether it is ready: both include the database, and a server that waits for one need not be
    # started again. An engine that panics ends the server by itself.
    livenessProbe:
      tcpSocket: {port: http}
      periodSeconds: 20
      timeoutSeconds: 5
    resources: {{- toYaml .Values.resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop: [ALL]
    volumeMounts:
      - name: data
        mountPath: /var/lib/cubeloom
      - name: workspace
        mountPath: /var/lib/cubeloom/workspace
      - name: tmp
        mountPath: /tmp
      {{- range .Values.volumes }}
      - name: claim-{{ .claim | sha256sum | trunc 16 }}
        mountPath: /volumes/{{ .claim }}
        readOnly: {{ .readOnly | default false }}
      {{- end }}
      {{- if .Values.keys.secret }}
      - name: keys
        mountPath: /etc/cubeloom/keys
        readOnly: true
      {{- end }}
volumes:
  - name: workspace
    persistentVolumeClaim:
      claimName: {{ .Values.workspace.claim }}
  - name: tmp
    emptyDir: {}
  {{- range .Values.volumes }}
  # Names of claims may be longer than those of volumes, and have dots.
  - name: claim-{{ .claim | sha256sum | trunc 16 }}
    persistentVolumeClaim:
      claimName: {{ .claim }}
  {{- end }}
  {{- with .Values.keys.secret }}
  - name: keys
    secret:
      secretName: {{ . }}
      defaultMode: 0440
  {{- end }}
{{- end }}

{{/* The server's variables. */}}
{{- define "cubeloom.environment" -}}
- name: CUBELOOM_DATA
  value: /var/lib/cubeloom
- name: CUBELOOM_SERVER_LISTEN
  value: 0.0.0.0:8080
- name: CUBELOOM_SERVER_TEMPLATES
  value: /opt/cubeloom/task-templates
- name: CUBELOOM_SERVER_URL
  value: {{ include "cubeloom.url" . | quote }}
{{- if .Values.ingress.enabled }}
- name: CUBELOOM_SERVER_PROXIES
  value: "1"
{{- end }}
{{- if .Values.metrics.enabled }}
- name: CUBELOOM_TELEMETRY_METRICS_LISTEN
  value: 0.0.0.0:{{ .Values.metrics.port }}
{{- end }}
{{- if .Values.keys.secret }}
- name: CUBELOOM_SERVER_KEYS
  value: /etc/cubeloom/keys
{{- end }}
{{- if .Values.database.secret }}
- name: CUBELOOM_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.secret }}
      key: {{ .Values.database.key }}
{{- end }}
{{- range $section, $keys := .Values.settings }}
{{- range $key, $value := $keys }}
- name: CUBELOOM_{{ upper $section }}_{{ upper $key }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
