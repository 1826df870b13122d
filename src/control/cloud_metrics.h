/* cloud_metrics - a provider whose calls are timed and whose errors are counted (lifecycle 10.1: karpenter_cloudprovider_*).
 *
 * It goes around any provider, before anybody else has it in hands. A call belongs to the controller in whose run it is made.
 */
#pragma once

#include "control/control.h"

/* Takes the place of c->cloud, and is freed with it. c->metrics must be there. */
void cloud_metrics_wrap(struct control *c);
