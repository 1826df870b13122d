/* profile - the files that AWS programs share, ~/.aws/config and ~/.aws/credentials, as sections with settings.
 *
 * The dialect: "[profile NAME]" ("[NAME]" in the credentials file, "[default]" in both), "[sso-session NAME]", "[services NAME]"; other sections
 * are passed over. "key = value"; keys in any case. A line that begins with # or ; is a comment, and so is what follows a blank and one of these
 * after a value. A line that is indented more than the setting above it goes on with its value; if that has none, it is a setting of its own below
 * it. Of what is said twice the last counts, and the credentials file is read last. Errors name file and line, never a value: it may be a secret.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

#define PROFILE_MAX_FILE ((size_t)4 << 20)
#define PROFILE_MAX_SECTIONS 4096u /* of all files */
#define PROFILE_MAX_SETTINGS 256u  /* of one section, or below one setting */

enum profile_kind { PROFILE_USER, PROFILE_SSO_SESSION, PROFILE_SERVICES };

struct profile_setting {
    str key, value; /* key: small letters */
    const char *file;
    uint32_t line;
    VEC(struct profile_setting) below; /* one level only */
};

struct profile {
    enum profile_kind kind;
    str name;
    const char *file; /* where it began */
    uint32_t line;
    bool full_name; /* "[profile default]", which goes before "[default]" */
    VEC(struct profile_setting) settings;
};

struct profiles {
    struct arena *arena;
    VEC(struct profile) list;
};

/* On failure what came before the bad line has been added. */
bool profiles_add(struct profiles *p, const char *file, bool credentials, str text, struct err *e);
void profiles_fini(struct profiles *p);

const struct profile *profiles_find(const struct profiles *p, enum profile_kind kind, str name);    /* or NULL */
const struct profile_setting *profile_find(const struct profile *s, const char *key);               /* or NULL */
const struct profile_setting *profile_find_below(const struct profile_setting *s, const char *key); /* or NULL */
str profile_get(const struct profile *s, const char *key); /* empty when absent; s may be NULL */
