/* ec2_failure - why a launch failed, in the words that conditions and metrics carry (aws 3.8). */
#pragma once

#include "base/str.h"

struct launch_failure {
    const char *reason, *message;
};

/* text: AWS's code and message, or whatever else is known. There is always an answer. */
struct launch_failure ec2_classify(str text);
