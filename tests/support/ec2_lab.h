/* ec2_lab - a region with a few types that everybody knows, and a node class that looks at them.
 *
 * For cmocka_unit_test_setup_teardown(test, ec2_lab_setup, ec2_lab_teardown). Zones are z-a, z-b and z-c with ids id-a …; the class is AL2023 with a subnet in each of
 * the first two. A test changes l->k, l->in or a type (ec2_lab_type), then resolves.
 */
#pragma once

#include "base/sb.h"
#include "cloud/ec2/types.h"

#define EC2_LAB_TYPES 24

struct ec2_lab {
    struct arena *a;
    struct syms *t;
    struct ec2_type_info infos[EC2_LAB_TYPES];
    uint32_t n_infos;
    struct ec2_type_zone offered[EC2_LAB_TYPES * 3];
    uint32_t n_offered;
    struct ec2_class k;
    struct ec2_prices *prices;
    struct ec2_unavailable *unavailable;
    struct ec2_universe universe;
    struct ec2_types_input in;
    struct ec2_types types;
};

int ec2_lab_setup(void **state);
int ec2_lab_teardown(void **state);

struct ec2_type_info *ec2_lab_type(struct ec2_lab *l, const char *name);
void ec2_lab_resolve(struct ec2_lab *l);                         /* must go well */
struct ec2_kvs ec2_lab_kvs(struct ec2_lab *l, const char *text); /* "cpu=1 memory=2Gi" */

/* Of a resolved type. */
uint32_t ec2_lab_ix(struct ec2_lab *l, const char *name);
str ec2_lab_label(struct ec2_lab *l, const char *type, const char *key); /* "a,b", "!" DoesNotExist, "?" silent */
str ec2_lab_capacity(struct ec2_lab *l, const char *type, const char *resource); /* "" when absent */
str ec2_lab_overhead(struct ec2_lab *l, const char *type, const char *resource);
str ec2_lab_resources(struct ec2_lab *l, const struct reslist *r); /* JSON */
/* One line per offering: "on-demand z-a 0.096 yes", with what else it asks for. */
str ec2_lab_offerings(struct ec2_lab *l, const char *type);
