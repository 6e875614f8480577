{{/* The release's full name: every object of the operator has it. */}}
{{- define "hudi-operator.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "hudi-operator.selectorLabels" -}}
app.kubernetes.io/name: hudi-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "hudi-operator.labels" -}}
{{ include "hudi-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: hudi-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "hudi-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "hudi-operator.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* The operator expects this name. */}}
{{- define "hudi-operator.runAccount" -}}
hudi-operator-run
{{- end -}}

{{/* An image's reference. Argument: dict "image" and "root". */}}
{{- define "hudi-operator.image" -}}
{{- if .image.digest -}}
{{- printf "%s@%s" .image.repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" .image.repository (.image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The namespaces that the operator watches, as JSON; none means all. */}}
{{- define "hudi-operator.watched" -}}
{{- if eq .Values.watch.mode "Namespaces" -}}
{{- uniq .Values.watch.namespaces | toJson -}}
{{- else if eq .Values.watch.mode "Own" -}}
{{- list .Release.Namespace | toJson -}}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* The namespaces where runs have an account, as JSON. */}}
{{- define "hudi-operator.workloadNamespaces" -}}
{{- $watched := include "hudi-operator.watched" . | fromJsonArray -}}
{{- .Values.workload.namespaces | default $watched | default (list .Release.Namespace) | uniq | toJson -}}
{{- end -}}

{{/* What the operator may do where it watches. tests/cluster/rights.yaml has the same rules, and the tests run with them. */}}
{{- define "hudi-operator.rules" -}}
- apiGroups: [hudi-operator.dev]
  resources: [huditables, metadataindexes, tableservices]
  verbs: [get, list, watch, patch]
- apiGroups: [hudi-operator.dev]
  resources: [huditables/status, metadataindexes/status, tableservices/status]
  verbs: [get, patch]
# A Job blocks the deletion of its owner. OpenShift grants that to those alone who may change the owner's finalizers.
- apiGroups: [hudi-operator.dev]
  resources: [huditables/finalizers, metadataindexes/finalizers, tableservices/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, create, patch]
- apiGroups: [""]
  resources: [secrets]
  verbs: [get]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch]
- apiGroups: ["", events.k8s.io]
  resources: [events]
  verbs: [get, list, create, patch]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch, create, patch, delete]
{{- end -}}

{{/* Contradictions that a schema cannot see. */}}
{{- define "hudi-operator.require" -}}
{{- if .Values.config -}}
{{- fail "config is set, and this version of the operator reads no such file: remove the value" -}}
{{- end -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) -}}
{{- fail (printf "replicas is %d and leaderElection.enabled is false: two operators would work at once. Set replicas to 1, or leaderElection.enabled to true" (int .Values.replicas)) -}}
{{- end -}}
{{- if and (eq .Values.watch.mode "Namespaces") (empty .Values.watch.namespaces) -}}
{{- fail "watch.mode is Namespaces and watch.namespaces is empty: name at least one namespace, or set watch.mode to Own or Cluster" -}}
{{- end -}}
{{- if and (ne .Values.watch.mode "Namespaces") .Values.watch.namespaces -}}
{{- fail (printf "watch.namespaces is set and watch.mode is %s, which ignores it: set watch.mode to Namespaces, or remove watch.namespaces" .Values.watch.mode) -}}
{{- end -}}
{{- end -}}
