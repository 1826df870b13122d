{{- define "handler.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "handler.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "handler.selectorLabels" -}}
app.kubernetes.io/name: {{ include "handler.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "handler.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "handler.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.customLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "handler.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "handler.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "handler.image" -}}
{{- with .Values.image }}
{{- .repository }}:{{ default $.Chart.AppVersion .tag }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}
{{- end }}

{{/* The variables of the program, as a list of name and value. What is empty is left to the program. */}}
{{- define "handler.env" -}}
{{- $given := list }}
{{- with .Values }}
{{- range list
    (list "ENABLE_SPOT_INTERRUPTION_DRAINING" .enableSpotInterruptionDraining)
    (list "ENABLE_SCHEDULED_EVENT_DRAINING" .enableScheduledEventDraining)
    (list "ENABLE_REBALANCE_MONITORING" .enableRebalanceMonitoring)
    (list "ENABLE_REBALANCE_DRAINING" .enableRebalanceDraining)
    (list "ENABLE_ASG_LIFECYCLE_DRAINING" .enableASGLifecycleDraining)
    (list "DRY_RUN" .dryRun)
    (list "CORDON_ONLY" .cordonOnly)
    (list "TAINT_NODE" .taintNode)
    (list "TAINT_EFFECT" .taintEffect)
    (list "ENABLE_OUT_OF_SERVICE_TAINT" .enableOutOfServiceTaint)
    (list "EXCLUDE_FROM_LOAD_BALANCERS" .excludeFromLoadBalancers)
    (list "DELETE_LOCAL_DATA" .deleteLocalData)
    (list "IGNORE_DAEMON_SETS" .ignoreDaemonSets)
    (list "POD_TERMINATION_GRACE_PERIOD" .podTerminationGracePeriod)
    (list "NODE_TERMINATION_GRACE_PERIOD" .nodeTerminationGracePeriod)
    (list "EMIT_KUBERNETES_EVENTS" .emitKubernetesEvents)
    (list "KUBERNETES_EVENTS_EXTRA_ANNOTATIONS" .kubernetesEventsExtraAnnotations)
    (list "WEBHOOK_URL" (ternary "" .webhookURL (not (empty .webhookURLSecretName))))
    (list "WEBHOOK_PROXY" .webhookProxy)
    (list "WEBHOOK_HEADERS" .webhookHeaders)
    (list "WEBHOOK_TEMPLATE" .webhookTemplate)
    (list "JSON_LOGGING" .jsonLogging)
    (list "LOG_LEVEL" .logLevel)
    (list "ENABLE_PROMETHEUS_SERVER" .enablePrometheusServer)
    (list "PROMETHEUS_SERVER_PORT" .prometheusServerPort)
    (list "ENABLE_PROBES_SERVER" .enableProbesServer)
    (list "PROBES_SERVER_PORT" .probesServerPort)
    (list "PROBES_SERVER_ENDPOINT" .probesServerEndpoint)
    (list "USE_PROVIDER_ID" .useProviderId)
    (list "INSTANCE_METADATA_URL" .instanceMetadataURL)
    (list "METADATA_TRIES" .metadataTries)
    (list "UPTIME_FROM_FILE" .procUptimeFile) }}
{{- $value := index . 1 | toString }}
{{- if ne $value "" }}
{{- $given = append $given (dict "name" (index . 0) "value" $value) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $given }}
{{- end }}
