/* providers - the providers of machines, joined to the controller that uses them. */
#pragma once

#include "base/err.h"

struct cloud;
struct control;

struct cloud *provider_kwok(struct control *c, struct err *e);
