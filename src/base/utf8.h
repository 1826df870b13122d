/* utf8 - one character at a time. */
#pragma once

#include "base/sb.h"

/* The length of the character at p and its code point; 0 when n bytes are not enough for it, -1 when it is not UTF-8
 * (overlong forms, surrogates and what lies beyond U+10FFFF are not). n > 0. */
int utf8_char(const unsigned char *p, size_t n, uint32_t *ret);

/* The character at s.p[at] as Go reads it: a byte that is not UTF-8 counts as one U+FFFD. The answer is its length. */
size_t utf8_step(str s, size_t at, uint32_t *ret);
size_t utf8_count(str s); /* characters, likewise */
bool utf8_valid(str s);
void utf8_put(struct sb *b, uint32_t c); /* c is a character */

/* What YAML lets stand in a file. */
bool utf8_yaml_printable(uint32_t c);
