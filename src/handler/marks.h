/* marks - what is written on the Node, and read from it again after a reboot. Pure: objects are trees.
 *
 * Names are those of aws-node-termination-handler, so that either understands what the other has left.
 */
#pragma once

#include "data/tree.h"
#include "handler/notice.h"
#include "handler/settings.h"

/* It is cordoned, and nothing says that we did it. */
bool marks_cordoned_by_others(const struct tree *node);
/* Cordons the node because of a notice, with the taint and the labels that were asked for, and those that a reboot needs. */
void marks_put(struct arena *a, struct tree *node, const struct handler_settings *s, const struct notice *n,
               int64_t now_ms);
void marks_out_of_service(struct arena *a, struct tree *node);
/* Takes all of it off again. uncordon false: somebody else had cordoned it before. */
void marks_take(struct tree *node, bool uncordon);

enum reboot {
    REBOOT_NONE,    /* the node waits for none */
    REBOOT_AWAITED, /* cordoned for one that has not come yet */
    REBOOT_DONE,    /* it has come: the node is to be uncordoned */
};

/* *ret_event: of which event, for the first to know; empty with REBOOT_NONE. Labels that make no sense are none. */
enum reboot marks_reboot(const struct tree *node, int64_t now_ms, int64_t uptime_s, str *ret_event);
/* "12345.67 …", as /proc/uptime has it: whole seconds. */
bool uptime_parse(str text, int64_t *ret_s);
