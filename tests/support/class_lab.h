/* class_lab - a provider of EC2 over the account of tests/vectors/aws/world.json, in a simulated world, without a cluster around it: for tests of what is asked of AWS for a
 * node class and what is remembered of it.
 *
 * For cmocka_unit_test_setup_teardown(test, class_lab_setup, class_lab_teardown). A test that wants another account closes it and opens one with members over those of the file.
 */
#pragma once

#include "app/aws_account.h"
#include "cloud/ec2/ec2_int.h"

struct class_lab {
    struct aws_account account;
    struct sim *sim; /* these five are the account's */
    struct world *near;
    struct sim_aws *server;
    struct aws *aws;
    struct arena *a;
    struct ec2 p;
    str template, run, fleet; /* input of the last CreateLaunchTemplate, RunInstances, CreateFleet; JSON */
    struct tree *stored[4];   /* what each_class() and class_object() tell of */
    uint32_t n_stored;
};

int class_lab_setup(void **state);
int class_lab_teardown(void **state);
void class_lab_stop(
    struct class_lab *l); /* whatever is under way unwinds; before a provider of the test's own is freed */
void class_lab_close(struct class_lab *l);
/* members: JSON text of members that go over the account's own; NULL: none. */
void class_lab_open(struct class_lab *l, const char *members);
/* The same; what a launch names has to be there, and is used up. */
void class_lab_open_exact(struct class_lab *l, const char *members);
void class_lab_run(struct class_lab *l, int64_t ms);                      /* time passes */
uint64_t class_lab_calls(const struct class_lab *l, const char *action);  /* so far */
void class_lab_go(struct class_lab *l, void (*fn)(void *arg), void *arg); /* in a fiber, to its end */

/* An object with name "default", uid "uid-1", and this spec, as JSON. */
struct tree *class_lab_object(struct class_lab *l, const char *spec);
struct ec2_class *class_lab_class(struct class_lab *l, const char *spec);
