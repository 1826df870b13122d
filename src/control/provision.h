/* provision - pending pods become NodeClaims (scheduling 8): triggers, the batch window, rounds.
 *
 * A round is one look at the cluster: the snapshot is planned, everything that is to be said or done is written down (round.h), and only then
 * does anything happen.
 */
#pragma once

#include "control/control.h"
#include "control/podbook.h"
#include "control/round.h"

struct provisioner;

struct provisioner *provision_register(struct control *c);
void provisioner_free(struct provisioner *p);
AUTO_DEFINE(provisioner)
const struct podbook *provisioner_book(const struct provisioner *p);
/* Something makes a round worthwhile though no pod has come. */
void provisioner_trigger(struct provisioner *p, str id);
