/* process - process_* metrics: what the system says about this process at the moment it is asked. */
#pragma once

struct metrics;

void process_metrics(struct metrics *m);
