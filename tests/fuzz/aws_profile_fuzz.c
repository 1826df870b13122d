/* Bytes as a shared file of AWS programs, in both of its forms: read, with every setting in order, or refused with its place. */
#include "aws/config.h"
#include "aws/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_setting(const struct profile_setting *s, str all)
{
    assert(s->key.n && s->line >= 1 && s->key.n + s->value.n <= all.n);
    for (size_t i = 0; i < s->key.n; i++)
        assert(s->key.p[i] != '=' && s->key.p[i] != '\n' && !(s->key.p[i] >= 'A' && s->key.p[i] <= 'Z'));
    assert(!s->value.n || !memchr(s->value.p, '\0', s->value.n));
    assert(s->below.n == 0 || s->value.n == 0);
    for (uint32_t i = 0; i < s->below.n; i++)
        check_setting(&s->below.v[i], all);
}

static void as_file(str bytes, bool credentials)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct profiles p = {.arena = a};
    struct err e = {0};

    if (!profiles_add(&p, "f", credentials, bytes, &e))
        assert(e.kind == ERR_INVALID && str_starts(str_c(e.msg), STR("f:")));
    assert(p.list.n <= PROFILE_MAX_SECTIONS);
    for (uint32_t i = 0; i < p.list.n; i++) {
        const struct profile *s = &p.list.v[i];

        assert(s->name.n && profiles_find(&p, s->kind, s->name) == s && s->settings.n <= PROFILE_MAX_SETTINGS);
        for (uint32_t k = 0; k < s->settings.n; k++)
            check_setting(&s->settings.v[k], bytes);
    }
    profiles_fini(&p);
}

static bool read_bytes(void *ctx, struct arena *a, const char *path, str *ret, struct err *e)
{
    if (strcmp(path, "/h/.aws/config") != 0)
        return err_set(e, ERR_NOT_FOUND, "%s", path);
    *ret = arena_strdup(a, *(const str *)ctx);
    return true;
}

static void as_configuration(str bytes)
{
    static const char *const vars[] = {"HOME=/h", NULL};
    struct aws_environment env = {vars, read_bytes, &bytes};
    struct err e = {0};
    AUTO(aws_config) struct aws_config *c = aws_config_load(&env, &e);

    assert(c || (e.kind != ERR_NONE && e.msg[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str bytes = {(const char *)data, size};

    as_file(bytes, /* credentials= */ false);
    as_file(bytes, /* credentials= */ true);
    as_configuration(bytes);
    return 0;
}
