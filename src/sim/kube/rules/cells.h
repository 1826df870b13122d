/* cells - the columns of `kubectl get` and what stands in them. */
#pragma once

#include "data/edit.h"
#include "sim/kube/kind.h"

struct cells {
    struct arena *a;
    struct tree *out;
    int64_t now_ms;
};

void cell_str(struct cells *c, str s);
void cell_c(struct cells *c, const char *s);
void cell_i64(struct cells *c, int64_t v);
void cell_count(struct cells *c, const struct tree *v); /* a number; absent: 0 */
void cell_bool(struct cells *c, bool v);
void cell_or(struct cells *c, str s, const char *otherwise); /* otherwise: when s is empty */
void cell_name(struct cells *c, const struct tree *obj);
void cell_age(struct cells *c, const struct tree *obj);            /* since metadata.creationTimestamp */
void cell_since(struct cells *c, const struct tree *time);         /* absent: <unknown> */
void cell_created(struct cells *c, const struct tree *obj);        /* the time itself */
void cell_containers(struct cells *c, const struct tree *podspec); /* two cells: names and images */
void cell_selector(struct cells *c, const struct tree *selector);  /* metav1.LabelSelector, as text */
void cell_labels(struct cells *c, const struct tree *map);         /* a=b,c=d; <none> */
/* Four: age, containers and images of spec.template, spec.selector, which may be a plain map of labels. */
void cell_of_pods(struct cells *c, const struct tree *obj);

str load_balancer_text(struct arena *a, const struct tree *obj); /* status.loadBalancer.ingress */

str age_text(struct arena *a, int64_t ms); /* a length of time */
bool time_of(const struct tree *t, int64_t *ret_ms);
str lower_case(struct arena *a, str s);

/* Columns that most kinds have. */
#define COLUMN_NAME                                                                                                    \
    {                                                                                                                  \
        "Name", "string", "name", "Name of the object", 0                                                              \
    }
#define COLUMN_AGE                                                                                                     \
    {                                                                                                                  \
        "Age", "string", "", "Time since its creation", 0                                                              \
    }
#define COLUMN_CREATED                                                                                                 \
    {                                                                                                                  \
        "Created At", "date", "", "Time of its creation", 0                                                            \
    }
#define COLUMN_CONTAINERS                                                                                              \
    {                                                                                                                  \
        "Containers", "string", "", "Containers of the template", 1                                                    \
    }
#define COLUMN_IMAGES                                                                                                  \
    {                                                                                                                  \
        "Images", "string", "", "Images of the template", 1                                                            \
    }
#define COLUMN_SELECTOR                                                                                                \
    {                                                                                                                  \
        "Selector", "string", "", "Which pods belong to it", 1                                                         \
    }

/* The last ones of what makes pods from a template: cell_of_pods(). */
#define COLUMNS_OF_PODS COLUMN_AGE, COLUMN_CONTAINERS, COLUMN_IMAGES, COLUMN_SELECTOR

#define KIND_COLUMNS(name_)                                                                                            \
    const struct kind_columns columns_##name_ = {name_##_columns, ARRAY_LEN(name_##_columns), name_##_cells}
/* The body of a cells function begins with it. */
#define CELLS                                                                                                          \
    struct cells *c = &(struct cells)                                                                                  \
    {                                                                                                                  \
        a, ret_cells, now_ms                                                                                           \
    }
