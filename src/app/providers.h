/* providers - the providers of machines, joined to the controller that uses them. */
#pragma once

#include "base/err.h"

struct cloud;
struct control;

struct cloud *provider_kwok(struct control *c, struct err *e);

/* aws: machines of EC2, and the controllers that come with them. The environment of the process says whom to ask, and in whose name. */
struct aws_environment;
struct cloud *provider_aws(struct control *c, struct err *e);
struct cloud *provider_aws_in(struct control *c, const struct aws_environment *env, struct err *e); /* another one */
void *provider_aws_attach(struct control *c);
void provider_aws_detach(void *controllers);
