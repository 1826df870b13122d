/* register - all controllers there are. */
#pragma once

#include "control/control.h"

struct controllers;

struct controllers *controllers_register(struct control *c);
/* From now on this replica acts. What there is is told by the one that acts alone: two that tell the same make every sum over replicas twice as large. */
void controllers_start(struct controllers *s);
void controllers_free(struct controllers *s);
