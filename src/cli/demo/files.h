/* files - small whole files of the demo: its ways in, the cluster that is kept. */
#pragma once

#include "base/err.h"
#include "base/sb.h"

/* All of it or nothing, readable by the user only: beside the file first, then in its place. */
bool demo_write_file(const char *path, str bytes, struct err *e);
bool demo_read_file(const char *path, struct sb *out, struct err *e);

struct arena;

/* Where the ways in are unless somebody says otherwise: NAME in the user's runtime directory, or with the user's id in /tmp. */
const char *demo_default_path(struct arena *a, const char *suffix);
