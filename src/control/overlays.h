/* overlays - NodeOverlays (scheduling 23), behind the feature gate NodeOverlay: the provider with another catalogue, and the controller that says which overlays
 * count.
 *
 * Everybody asks c->cloud for the catalogue, so the provider is put behind one that changes it. It is worked out when somebody asks and something has changed since:
 * a plan never sees a pool whose overlays have not been looked at. What overlays mean is in model/overlay.
 */
#pragma once

#include "control/control.h"

struct overlays;

/* Takes the provider's place as c->cloud, whose free() frees both from here on. Until overlays_register() it shows the provider's own catalogue. */
struct overlays *overlays_new(struct control *c);
/* Adds the controller; the store is there. */
void overlays_register(struct overlays *s);
/* Types of a pool that are not, or not yet, in the catalogue, as the overlays that count make them: what a provider launches from. The types are in the order of `base`, and share
 * with it what is as it was; without a change it is `base` itself. */
const struct catalog *overlays_of_pool(struct overlays *s, struct arena *a, str pool, const struct catalog *base);
