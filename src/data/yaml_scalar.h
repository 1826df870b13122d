/* yaml_scalar - what a plain YAML scalar means: the rules of Go's YAML reader as kubectl uses it.
 *
 * | written                                                        | means                                    |
 * | (nothing) ~ null Null NULL                                     | null                                     |
 * | y Y yes Yes YES true True TRUE on On ON                        | true                                     |
 * | n N no No NO false False FALSE off Off OFF                     | false                                    |
 * | 12 -12 +12 1_000 0x1f 0o17 0b101 017 (octal)                   | an integer                               |
 * | 1.5 .5 5. 1e3 08 (not octal, so a float), more than 64 bits    | a number                                 |
 * | .inf -.inf .nan                                                | a number that JSON cannot hold: an error |
 * | all else: dates, times, 1:30, quantities                       | a string                                 |
 */
#pragma once

#include "data/tree.h"

enum yaml_meaning { YAML_STRING, YAML_NULL, YAML_TRUE, YAML_FALSE, YAML_NUMBER, YAML_NOT_FINITE };

enum yaml_meaning yaml_resolve(str s);

/* The text of a YAML_NUMBER as JSON writes numbers: untouched where it is one already, otherwise normalised
 * into the arena. */
str yaml_number_text(struct arena *a, str s);

bool json_is_number(str s); /* exactly JSON's grammar for numbers */
