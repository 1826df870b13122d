/* golden - a text that a test makes, compared line by line with a file of the repository. UPDATE_GOLDEN=1 writes the file anew, after a change that is meant. */
#pragma once

#include "base/str.h"

void golden_check(const char *path, str got);
