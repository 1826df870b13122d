{{- define "karpenter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "karpenter.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "karpenter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "karpenter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "karpenter.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "karpenter.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* labels: and annotations: of an object. Takes the root; further annotations as second of a list. */}}
{{- define "karpenter.metadata" -}}
{{- $root := index . 0 }}
{{- $annotations := merge (dict) (index . 1) $root.Values.additionalAnnotations -}}
labels:
  {{- include "karpenter.labels" $root | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "karpenter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "karpenter.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "karpenter.image" -}}
{{- with .Values.controller.image }}
{{- .repository }}:{{ default $.Chart.AppVersion .tag }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}
{{- end }}

{{/* Terms of pod affinity and topology spread that select nobody mean the controller's own pods. Takes a list of terms and the root. */}}
{{- define "karpenter.ownTerms" -}}
{{- $root := index . 1 }}
{{- $own := dict "matchLabels" (include "karpenter.selectorLabels" $root | fromYaml) }}
{{- $terms := list }}
{{- range index . 0 }}
{{- $term := deepCopy . }}
{{- if not (hasKey $term "labelSelector") }}{{ $_ := set $term "labelSelector" $own }}{{ end }}
{{- $terms = append $terms $term }}
{{- end }}
{{- toYaml $terms }}
{{- end }}

{{- define "karpenter.affinity" -}}
{{- $root := . }}
{{- $affinity := deepCopy .Values.affinity }}
{{- range $kind := list "podAffinity" "podAntiAffinity" }}
{{- with index $affinity $kind }}
{{- with .requiredDuringSchedulingIgnoredDuringExecution }}
{{- $_ := set (index $affinity $kind) "requiredDuringSchedulingIgnoredDuringExecution" (include "karpenter.ownTerms" (list . $root) | fromYamlArray) }}
{{- end }}
{{- range .preferredDuringSchedulingIgnoredDuringExecution }}
{{- if and .podAffinityTerm (not (hasKey .podAffinityTerm "labelSelector")) }}
{{- $_ := set .podAffinityTerm "labelSelector" (dict "matchLabels" (include "karpenter.selectorLabels" $root | fromYaml)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $affinity }}
{{- end }}

{{/* Environment variables of a list of (name, value): those that are neither empty nor zero nor false. Takes the list and the root: strings may refer to other values. */}}
{{- define "karpenter.env" -}}
{{- $root := index . 1 }}
{{- $given := list }}
{{- range index . 0 }}
{{- if index . 1 }}
{{- $given = append $given (dict "name" (index . 0) "value" (tpl (toString (index . 1)) $root)) }}
{{- end }}
{{- end }}
{{- toYaml $given }}
{{- end }}
