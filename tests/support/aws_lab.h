/* aws_lab - a session of AWS calls in a simulated world: an environment with files, and one server for every address that AWS programs know.
 *
 * The server answers as the test says: `serve` gets every request that reaches AWS, STS, IMDS or a container's endpoint.
 */
#pragma once

#include "aws/aws.h"
#include "base/vec.h"
#include "sim/world.h"

struct lab_file {
    const char *path;
    str text; /* NULL pointer: it is not there */
};

struct aws_lab {
    struct sim *sim;
    struct world *near, *far; /* ours, the servers' */
    VEC(struct lab_file) files;
    struct aws_config *config;
    struct aws *aws;
    void (*serve)(struct aws_lab *l, struct exchange *x); /* url: lab_url(x) */
    void *ctx;
    uint32_t n_running; /* fibers that have not returned */
};

/* vars: "NAME=value", NULL at the end. The configuration has to be good. */
void aws_lab_init(struct aws_lab *l, uint64_t seed, const char *const *vars);
void aws_lab_fini(struct aws_lab *l);
/* Before or after aws_lab_init(): what a file holds; NULL: it is gone. Texts are not copied. */
void aws_lab_file(struct aws_lab *l, const char *path, const char *text);
/* An environment with the files of the lab, for those who load it themselves. */
struct aws_environment aws_lab_environment(struct aws_lab *l, const char *const *vars);

/* Runs fn in a fiber, until all of them have returned or so much time has passed. */
void aws_lab_go(struct aws_lab *l, void (*fn)(void *arg), void *arg);
void aws_lab_run(struct aws_lab *l, int64_t ms);

/* For servers. */
bool lab_is(const struct exchange *x, const char *host); /* begin of the Host header */
str lab_form(struct exchange *x, const char *name);      /* of a body that is a form; empty when absent */
void lab_reply(struct exchange *x, int status, const char *body);
