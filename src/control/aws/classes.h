/* classes - the controllers that keep EC2NodeClasses up to date: their status, their finalizer, their hash, the instance profiles that were made for them (aws 7.1, 7.2, 7.9).
 *
 * What AWS is asked, and what is to be said about it, is in cloud/ec2/reconcile.h; here it is written to the API server.
 */
#pragma once

#include "cloud/ec2/provider.h"
#include "control/control.h"

struct aws_classes;

/* Adds the controllers to the manager; they begin when it does. The manager ends before aws_classes_free(). */
struct aws_classes *aws_classes_new(struct control *c, struct ec2 *p, bool isolated_vpc);
void aws_classes_free(struct aws_classes *s);
AUTO_DEFINE(aws_classes)
