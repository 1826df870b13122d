/* buffers - CapacityBuffers (scheduling 21), behind the feature gate CapacityBuffer.
 *
 * Controller `capacitybuffer` finds out what a buffer's pods look like and how many there are, says so in its status, hands the pods to the store, and asks for a
 * round. Every round plans for them (they are in the snapshot, pod.of_buffer) and tells afterwards where they went. What the numbers and words are is in model/buffer.
 */
#pragma once

#include "control/control.h"

struct buffers;
struct round;

/* on_change: a buffer has been looked at, a round should follow; id is the buffer's uid. */
struct buffers *buffers_new(struct control *c, void (*on_change)(void *ctx, str id), void *ctx);
void buffers_free(struct buffers *s);
AUTO_DEFINE(buffers)

/* Before a round: buffers that were found ready earlier, perhaps by another process, have their pods, whether they have had their turn here or not. Parks. */
void buffers_prepare(struct buffers *s, struct reconcile *r);
/* After a round, before machines are bought: condition Provisioning of each, and how many pods of buffers each machine holds. Parks. */
void buffers_report(struct buffers *s, struct reconcile *r, const struct round *d);
