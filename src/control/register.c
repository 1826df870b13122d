/* Every controller, in the order in which they hear of changes. */
#include "control/register.h"

#include <stdlib.h>

#include "control/claims.h"
#include "control/nodes.h"
#include "control/provision.h"

struct controllers {
    struct claims *claims;
    struct nodes *nodes;
    struct provisioner *provisioner;
};

struct controllers *controllers_register(struct control *c)
{
    struct controllers *s = xcalloc(1, sizeof(*s));

    s->claims = claims_new(c);
    s->nodes = nodes_new(c);
    s->provisioner = provision_register(c);
    return s;
}

void controllers_free(struct controllers *s)
{
    if (!s)
        return;
    provisioner_free(s->provisioner);
    nodes_free(s->nodes);
    claims_free(s->claims);
    free(s);
}
