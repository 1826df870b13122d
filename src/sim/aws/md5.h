/* md5 - the digest that SQS sends with every message, so that clients can check what they got. For nothing else: it is broken. */
#pragma once

#include "base/str.h"

void md5_hex(str bytes, char ret[33]);
