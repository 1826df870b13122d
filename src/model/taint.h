/* taint - taints and tolerations (scheduling 6.1). */
#pragma once

#include "model/sym.h"

enum taint_effect { EFFECT_NONE, EFFECT_NO_SCHEDULE, EFFECT_PREFER_NO_SCHEDULE, EFFECT_NO_EXECUTE };
enum tol_op { TOL_EQUAL, TOL_EXISTS, TOL_LT, TOL_GT, TOL_UNKNOWN };

struct taint {
    sym key, value;
    enum taint_effect effect;
};

struct toleration {
    sym key, value;           /* SYM_NONE key: every key */
    enum taint_effect effect; /* EFFECT_NONE: every effect */
    enum tol_op op;
};

struct taints {
    struct taint *v;
    uint32_t n;
};

struct tolerations {
    struct toleration *v;
    uint32_t n;
};

const char *taint_effect_name(enum taint_effect e);
bool taint_effect_parse(str s, enum taint_effect *ret); /* the empty string is EFFECT_NONE */

bool toleration_tolerates(const struct toleration *o, const struct taint *t, const struct syms *syms);
/* The first taint that no toleration covers, or NULL. PreferNoSchedule counts like the others. */
const struct taint *taints_untolerated(const struct taints *t, const struct tolerations *o, const struct syms *syms);
bool taint_matches(const struct taint *a, const struct taint *b); /* key and effect; the value does not count */
bool taint_is_ephemeral(const struct taint *t, const struct syms *syms);
