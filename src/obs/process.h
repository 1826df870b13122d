/* process - process_* metrics: what the system says about this process at the moment it is asked. */
#pragma once

struct metrics;

void process_metrics(struct metrics *m);
double process_resident_bytes(void); /* memory that is in RAM; 0: nobody knows */
