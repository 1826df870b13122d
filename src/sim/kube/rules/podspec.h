/* podspec - defaults and checks of what pods and the templates of workloads have in common. */
#pragma once

#include "sim/kube/rules/rule.h"

void podspec_defaults(struct arena *a, struct tree *spec);
/* Creates metadata and spec where they are absent. */
void template_defaults(struct arena *a, struct tree *tmpl);
/* Requests of containers that have only limits: pods, not templates. */
void podspec_requests(struct arena *a, struct tree *spec);
void claim_spec_defaults(struct arena *a, struct tree *spec);
void volume_source_defaults(struct arena *a, struct tree *source);

void podspec_check(struct flaws *f, const struct at *at, const struct tree *spec);
/* The metadata and spec of a template. */
void template_check(struct flaws *f, const struct at *at, const struct tree *tmpl);
void podspec_check_volumes(struct flaws *f, const struct at *at, const struct tree *volumes);
void podspec_check_placing(struct flaws *f, const struct at *at, const struct tree *spec);
void resources_check(struct flaws *f, const struct at *at, const struct tree *resources);
void env_check(struct flaws *f, const struct at *at, const struct tree *env);
void probes_check(struct flaws *f, const struct at *at, const struct tree *container, bool init);

/* metav1.LabelSelector. False when there are flaws. */
bool selector_check(struct flaws *f, const struct at *at, const struct tree *selector);
/* Whether a selector that passes the checks selects these labels. An absent one selects nothing. */
bool selector_selects(const struct tree *selector, const struct tree *labels);
/* core/v1 NodeSelector: volumes use it too. */
void node_selector_check(struct flaws *f, const struct at *at, const struct tree *selector);
void tolerations_check(struct flaws *f, const struct at *at, const struct tree *tolerations);
/* Exactly one kind of volume; `pv` volumes allow some others. */
void volume_source_check(struct flaws *f, const struct at *at, const struct tree *source, bool pv);
void access_modes_check(struct flaws *f, const struct at *at, const struct tree *modes);
