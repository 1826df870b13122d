/* utf8 - one character at a time. */
#pragma once

#include "base/base.h"

/* The length of the character at p and its code point; 0 when n bytes are not enough for it, -1 when it is not UTF-8
 * (overlong forms, surrogates and what lies beyond U+10FFFF are not). n > 0. */
int utf8_char(const unsigned char *p, size_t n, uint32_t *ret);

/* What YAML lets stand in a file. */
bool utf8_yaml_printable(uint32_t c);
