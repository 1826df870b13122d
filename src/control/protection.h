/* protection - what people are told about a pod's annotation karpenter.sh/do-not-disrupt (lifecycle 1.2, 11).
 *
 * For whoever lets the annotation decide: a value that means nothing is a warning, a duration is told when it will end and when it has. Nothing is said about `true`, nor about a pod that has
 * not started. To publish the same again is free: the recorder drops it.
 */
#pragma once

#include "control/recorder.h"
#include "model/pod.h"

void protection_say(struct recorder *r, struct arena *a, const struct syms *t, const struct pod *p, int64_t now_ms);
