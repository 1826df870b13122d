/* door - what fate and AWS do to an account, on request: a few paths beside AWS's own protocols, for curl and for `karpenter demo VERB`.
 *
 *     POST /demo/interrupt?node=NAME                                   a spot machine gets its two minutes' notice; NAME is of a node or an instance
 *     POST /demo/capacity?type=T&zone=Z&capacityType=C&more=N          so many more machines has this pool; no type or zone: all of them
 *     POST /demo/publish-ami?family=F                                  new images of a family, which its alias points to from now on
 *
 * with `Authorization: Bearer SECRET`. Answers are sentences.
 */
#pragma once

#include "net/http.h"

#define DOOR "/demo/"

struct demo_aws;

void door_serve(struct demo_aws *d, struct exchange *x);
