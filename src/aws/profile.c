#include "aws/profile.h"

#include "base/sb.h"

struct ini {
    struct profiles *p;
    const char *file;
    bool credentials;
    uint32_t line;
    bool any;         /* a section has begun */
    int64_t section;  /* index; -1: one that is passed over */
    int64_t setting;  /* index; -1: none in this section yet */
    size_t indent;    /* of that setting */
    bool passed_over; /* a setting of a section that is passed over: it has more lines */
    struct sb lines;  /* its value so far, if that goes on over several lines */
};

static bool ini_error(const struct ini *i, struct err *e, const char *what)
{
    return err_set(e, ERR_INVALID, "%s:%u: %s", i->file, i->line, what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_comment(char c)
{
    return c == '#' || c == ';';
}

static str small(struct arena *a, str s)
{
    char *p = arena_new_array(a, char, s.n + 1);

    for (size_t i = 0; i < s.n; i++)
        p[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] - 'A' + 'a') : s.p[i];
    return (str){p, s.n};
}

/* ---- sections ---- */

const struct profile *profiles_find(const struct profiles *p, enum profile_kind kind, str name)
{
    for (uint32_t i = 0; i < p->list.n; i++)
        if (p->list.v[i].kind == kind && str_eq(p->list.v[i].name, name))
            return &p->list.v[i];
    return NULL;
}

static void drop_settings(struct profile *s)
{
    for (uint32_t i = 0; i < s->settings.n; i++)
        vec_fini(&s->settings.v[i].below);
    s->settings.n = 0;
}

/* false: a section that means nothing to us. */
static bool section_of(const struct ini *i, str head, enum profile_kind *ret_kind, str *ret_name, bool *ret_full)
{
    str word = head, name = {0};

    for (size_t k = 0; k < head.n; k++)
        if (is_blank(head.p[k])) {
            word = str_sub(head, 0, k);
            name = str_trim(str_sub(head, k, head.n));
            break;
        }
    if (name.n > 1 && (name.p[0] == '"' || name.p[0] == '\'') && name.p[name.n - 1] == name.p[0])
        name = str_sub(name, 1, name.n - 1);
    *ret_full = false;
    *ret_name = name;
    if (i->credentials || (!name.n && str_is(word, "default"))) {
        *ret_kind = PROFILE_USER;
        *ret_name = head;
        return !(name.n && str_is(word, "profile"));
    }
    if (!name.n)
        return false;
    *ret_full = true;
    *ret_kind = str_is(word, "profile")       ? PROFILE_USER
                : str_is(word, "sso-session") ? PROFILE_SSO_SESSION
                                              : PROFILE_SERVICES;
    return *ret_kind != PROFILE_SERVICES || str_is(word, "services");
}

static bool begin_section(struct ini *i, str line, struct err *e)
{
    const char *end = memchr(line.p, ']', line.n);
    enum profile_kind kind;
    bool full;
    str name;

    if (!end)
        return ini_error(i, e, "a section without \"]\"");
    str head = str_trim(str_sub(line, 1, (size_t)(end - line.p))),
        after = str_trim(str_sub(line, (size_t)(end - line.p) + 1, line.n));
    if (after.n && !is_comment(after.p[0]))
        return ini_error(i, e, "something follows the \"]\" of a section");
    if (!head.n)
        return ini_error(i, e, "a section without a name");
    i->any = true;
    i->section = i->setting = -1;
    i->passed_over = false;
    if (!section_of(i, head, &kind, &name, &full))
        return true;
    const struct profile *was = profiles_find(i->p, kind, name);
    if (!was) {
        if (i->p->list.n >= PROFILE_MAX_SECTIONS)
            return ini_error(i, e, "too many sections");
        vec_push(&i->p->list, (struct profile){.kind = kind,
                                               .name = arena_strdup(i->p->arena, name),
                                               .file = i->file,
                                               .line = i->line,
                                               .full_name = full});
        i->section = i->p->list.n - 1;
        return true;
    }
    i->section = was - i->p->list.v;
    struct profile *s = &i->p->list.v[i->section];
    if (full && !s->full_name) {
        drop_settings(s);
        s->full_name = true;
    } else if (!i->credentials && !full && s->full_name) {
        i->section = -1;
    }
    return true;
}

/* ---- settings ---- */

/* What follows a blank and # or ; is a comment. */
static str without_comment(str s)
{
    for (size_t k = 1; k < s.n; k++)
        if (is_comment(s.p[k]) && is_blank(s.p[k - 1]))
            return str_trim(str_sub(s, 0, k));
    return s.n && is_comment(s.p[0]) ? (str){0} : s;
}

static bool key_of(const struct ini *i, str line, str *ret_key, str *ret_value, struct err *e)
{
    if (!str_cut(line, '=', ret_key, ret_value))
        return ini_error(i, e, "a line without \"=\"");
    *ret_key = str_trim(*ret_key);
    *ret_value = str_trim(*ret_value);
    if (!ret_key->n)
        return ini_error(i, e, "a value without a name");
    return true;
}

static bool add_setting(struct ini *i, size_t indent, str line, struct err *e)
{
    struct profile *s = i->section < 0 ? NULL : &i->p->list.v[i->section];
    str key, value;

    if (!i->any)
        return ini_error(i, e, "a setting before the first section");
    if (!key_of(i, line, &key, &value, e))
        return false;
    i->indent = indent;
    i->passed_over = !s;
    if (!s)
        return true;
    struct profile_setting v = {.key = small(i->p->arena, key),
                                .value = arena_strdup(i->p->arena, without_comment(value)),
                                .file = i->file,
                                .line = i->line};
    for (i->setting = 0; i->setting < s->settings.n; i->setting++)
        if (str_eq(s->settings.v[i->setting].key, v.key))
            break;
    if (i->setting == PROFILE_MAX_SETTINGS)
        return ini_error(i, e, "too many settings in a section");
    if (i->setting == s->settings.n) {
        vec_push(&s->settings, v);
    } else {
        vec_fini(&s->settings.v[i->setting].below);
        s->settings.v[i->setting] = v;
    }
    return true;
}

/* The value of the last setting is complete. */
static void end_value(struct ini *i)
{
    if (i->lines.n)
        i->p->list.v[i->section].settings.v[i->setting].value = sb_dup(&i->lines, i->p->arena);
    sb_reset(&i->lines);
}

static bool go_on(struct ini *i, str line, struct err *e)
{
    if (i->passed_over)
        return true;
    struct profile_setting *s = &i->p->list.v[i->section].settings.v[i->setting];
    struct profile_setting sub = {.file = i->file, .line = i->line};
    if (s->value.n) {
        if (!i->lines.n)
            sb_str(&i->lines, s->value);
        sb_char(&i->lines, '\n');
        sb_str(&i->lines, line);
        return true;
    }
    if (!key_of(i, line, &sub.key, &sub.value, e))
        return false;
    if (s->below.n >= PROFILE_MAX_SETTINGS)
        return ini_error(i, e, "too many settings below one");
    sub.key = small(i->p->arena, sub.key);
    sub.value = arena_strdup(i->p->arena, without_comment(sub.value));
    vec_reserve(&s->below, s->below.n + 1);
    s->below.v[s->below.n++] = sub;
    return true;
}

static bool take_line(struct ini *i, str line, struct err *e)
{
    size_t indent = 0;

    while (indent < line.n && is_blank(line.p[indent]))
        indent++;
    line = str_trim(line);
    if (!line.n || is_comment(line.p[0]))
        return true;
    if (memchr(line.p, '\0', line.n))
        return ini_error(i, e, "a byte that is no text");
    if ((i->setting >= 0 || i->passed_over) && indent > i->indent)
        return go_on(i, line, e);
    end_value(i);
    if (line.p[0] == '[')
        return begin_section(i, line, e);
    return add_setting(i, indent, line, e);
}

bool profiles_add(struct profiles *p, const char *file, bool credentials, str text, struct err *e)
{
    struct ini i = {.p = p, .file = file, .credentials = credentials, .section = -1, .setting = -1};
    bool ok = true;
    str line;

    if (text.n > PROFILE_MAX_FILE)
        return err_set(e, ERR_INVALID, "%s: is larger than %zu KiB", file, PROFILE_MAX_FILE >> 10);
    if (str_starts(text, STR("\xef\xbb\xbf")))
        text = str_sub(text, 3, text.n);
    while (ok && text.n) {
        (void)str_cut(text, '\n', &line, &text);
        i.line++;
        ok = take_line(&i, line, e);
    }
    end_value(&i);
    if (i.lines.p)
        explicit_bzero(i.lines.p, i.lines.cap);
    sb_fini(&i.lines);
    return ok;
}

void profiles_fini(struct profiles *p)
{
    for (uint32_t i = 0; i < p->list.n; i++) {
        drop_settings(&p->list.v[i]);
        vec_fini(&p->list.v[i].settings);
    }
    vec_fini(&p->list);
}

/* ---- asking ---- */

const struct profile_setting *profile_find(const struct profile *s, const char *key)
{
    for (uint32_t i = 0; s && i < s->settings.n; i++)
        if (str_is(s->settings.v[i].key, key))
            return &s->settings.v[i];
    return NULL;
}

/* The last counts. */
const struct profile_setting *profile_find_below(const struct profile_setting *s, const char *key)
{
    for (uint32_t i = s ? s->below.n : 0; i-- > 0;)
        if (str_is(s->below.v[i].key, key))
            return &s->below.v[i];
    return NULL;
}

str profile_get(const struct profile *s, const char *key)
{
    const struct profile_setting *v = profile_find(s, key);

    return v ? v->value : (str){0};
}
