/* gohash - structural hashes of Go values, as hashes of drift are made of (scheduling 2.11, aws 2.9).
 *
 * A value's hash is made of the names of types and fields and of what they hold. Lists are sets: the exclusive or of their
 * members, so order does not count and two equal members cancel out. Fields with the zero value take no part: do not add them.
 * Clusters carry such hashes in annotations, so all of this must agree to the bit.
 */
#pragma once

#include "base/str.h"

uint64_t gohash_str(str s); /* also of a name */
uint64_t gohash_bool(bool v);
uint64_t gohash_i32(int32_t v);
uint64_t gohash_i64(int64_t v);

/* A struct: gohash_struct("Taint"), then its fields in the order of their declaration. */
uint64_t gohash_struct(const char *type);
void gohash_field(uint64_t *h, const char *name, uint64_t value);
void gohash_text(uint64_t *h, const char *name, str value); /* unless it is empty */

/* A map: the exclusive or of its entries, then gohash_map(). */
uint64_t gohash_entry(uint64_t key, uint64_t value);
uint64_t gohash_map(uint64_t entries);
