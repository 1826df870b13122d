/* register - all controllers there are. */
#pragma once

#include "control/control.h"

struct controllers;

struct controllers *controllers_register(struct control *c);
void controllers_free(struct controllers *s);
