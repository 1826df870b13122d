#include "cli/input.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/sb.h"
#include "data/reader.h"
#include "k8s/decode.h"

#define DIR_DEPTH 16 /* of nested directories; links may go in circles */

static bool read_file(const char *path, const struct input_taker *to, struct err *e)
{
    AUTO(reader) struct reader *r = reader_open(path, e);
    const struct tree *t;

    if (!r)
        return false;
    for (;;) {
        if (!reader_next(r, &t, e))
            return false;
        if (!t)
            return true;
        if (!to->take(to->ctx, reader_name(r), t, e))
            return false;
    }
}

static int visible_manifest(const struct dirent *de)
{
    str name = str_c(de->d_name);

    if (name.n == 0 || name.p[0] == '.')
        return 0;
    return de->d_type == DT_DIR || de->d_type == DT_LNK || de->d_type == DT_UNKNOWN || str_ends(name, STR(".yaml")) ||
           str_ends(name, STR(".yml")) || str_ends(name, STR(".json"));
}

static bool has_manifest_name(const char *path)
{
    str name = str_c(path);

    return str_ends(name, STR(".yaml")) || str_ends(name, STR(".yml")) || str_ends(name, STR(".json"));
}

static bool read_dir(const char *path, unsigned depth, const struct input_taker *to, struct err *e)
{
    struct dirent **list = NULL;
    int n = scandir(path, &list, visible_manifest, alphasort);
    bool ok = n >= 0 || err_set(e, ERR_IO, "%s: cannot read this directory: %s", path, strerror(errno));

    if (depth > DIR_DEPTH)
        ok = err_set(e, ERR_INVALID, "%s: directories are nested more than %d deep", path, DIR_DEPTH);
    for (int i = 0; i < n; i++) {
        struct sb name = {0};
        struct stat st;

        sb_printf(&name, "%s/%s", path, list[i]->d_name);
        if (ok && stat(sb_cstr(&name), &st) != 0)
            ok = err_set(e, ERR_IO, "%s: %s", sb_cstr(&name), strerror(errno));
        else if (ok && S_ISDIR(st.st_mode))
            ok = read_dir(sb_cstr(&name), depth + 1, to, e);
        else if (ok && has_manifest_name(sb_cstr(&name)))
            ok = read_file(sb_cstr(&name), to, e);
        sb_fini(&name);
        free(list[i]);
    }
    free(list);
    return ok;
}

bool input_each(const char *path, const struct input_taker *to, struct err *e)
{
    struct stat st;

    if (strcmp(path, "-") == 0)
        return read_file(path, to, e);
    if (stat(path, &st) != 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    return S_ISDIR(st.st_mode) ? read_dir(path, 0, to, e) : read_file(path, to, e);
}

struct decoding {
    struct decoder *d;
    const struct input_watch *w;
};

static bool decode_one(void *ctx, const char *file, const struct tree *t, struct err *e)
{
    const struct decoding *d = ctx;

    if (!k8s_decode(d->d, t, e)) {
        char msg[sizeof(e->msg)];

        memcpy(msg, e->msg, sizeof(msg)); /* the decoder says line:column, the file is ours to say */
        return err_set(e, e->kind, "%s:%.*s", file, (int)sizeof(msg) - 1, msg);
    }
    if (d->w->tick)
        d->w->tick(d->w->ctx);
    return true;
}

bool input_read(struct decoder *d, const char *path, const struct input_watch *w, struct err *e)
{
    struct decoding to = {d, w};

    return input_each(path, &(struct input_taker){decode_one, &to}, e);
}
