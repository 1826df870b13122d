/* Quantities are read digit by digit into a decimal number of any length, scaled there, and only then made an int64_t:
 * no step rounds before the last one, and none uses floating point.
 */
#include "model/quantity.h"

#define LONGEST_TEXT 256 /* nobody means more; keeps struct decimal on the stack */
#define LARGEST_EXPONENT 100000

/* digit[0] is the least significant; the value is the sum of digit[i] * 10^(i + exp). */
struct decimal {
    uint8_t digit[LONGEST_TEXT + 24]; /* 1024^6 adds 19 digits */
    uint32_t n;
    int64_t exp;
};

struct suffix {
    const char *text;
    int32_t exp10;      /* decimal suffixes */
    uint32_t times1024; /* binary suffixes */
};

static const struct suffix suffixes[] = {
    {"", 0, 0},   {"m", -3, 0}, {"Ki", 0, 1}, {"Mi", 0, 2}, {"Gi", 0, 3}, {"k", 3, 0},  {"M", 6, 0},  {"G", 9, 0},
    {"T", 12, 0}, {"Ti", 0, 4}, {"P", 15, 0}, {"Pi", 0, 5}, {"E", 18, 0}, {"Ei", 0, 6}, {"n", -9, 0}, {"u", -6, 0},
};

static int32_t unit_exp(sym name)
{
    return sym_eq(name, SYM(CPU)) ? 9 : 3;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool malformed(str text, const char *why, struct err *e)
{
    return err_set(e, ERR_INVALID, "quantity \"%.*s\" %s", (int)MIN(text.n, (size_t)80), text.p, why);
}

/* Takes "12.5" off the front of *s. */
static bool decimal_read(str *s, struct decimal *ret)
{
    uint32_t n_whole = 0, n_fraction = 0;
    size_t end = 0;

    while (end < s->n && is_digit(s->p[end]))
        end++, n_whole++;
    if (end < s->n && s->p[end] == '.')
        for (end++; end < s->n && is_digit(s->p[end]); end++)
            n_fraction++;
    if (n_whole + n_fraction == 0)
        return false;

    ret->n = 0;
    ret->exp = -(int64_t)n_fraction;
    for (size_t i = end; i-- > 0;)
        if (s->p[i] != '.')
            ret->digit[ret->n++] = (uint8_t)(s->p[i] - '0');
    *s = str_sub(*s, end, s->n);
    return true;
}

static void decimal_times_1024(struct decimal *d)
{
    uint32_t carry = 0;

    for (uint32_t i = 0; i < d->n; i++) {
        carry += d->digit[i] * 1024u;
        d->digit[i] = (uint8_t)(carry % 10);
        carry /= 10;
    }
    for (; carry; carry /= 10)
        d->digit[d->n++] = (uint8_t)(carry % 10);
}

/* The magnitude as an integer, fractions rounded up; false when it does not fit. */
static bool decimal_to_i64(const struct decimal *d, int64_t *ret)
{
    int64_t v = 0;
    bool fraction = false;

    for (uint32_t i = d->n; i-- > 0;) {
        if (i + d->exp < 0)
            fraction |= d->digit[i] != 0;
        else if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, d->digit[i], &v))
            return false;
    }
    for (int64_t left = d->exp; left > 0 && v != 0; left--)
        if (__builtin_mul_overflow(v, 10, &v))
            return false;
    if (fraction && __builtin_add_overflow(v, 1, &v))
        return false;
    *ret = v;
    return true;
}

/* What follows the number: a suffix of the table, or e3, E-3, e+3. */
static bool suffix_read(str s, struct suffix *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_is(s, suffixes[i].text)) {
            *ret = suffixes[i];
            return true;
        }

    int64_t exp;
    if ((s.p[0] != 'e' && s.p[0] != 'E') || !str_to_i64(str_sub(s, 1, s.n), &exp))
        return false;
    *ret = (struct suffix){"", (int32_t)MIN(MAX(exp, -LARGEST_EXPONENT), LARGEST_EXPONENT), 0};
    return true;
}

static str without_sign(str text)
{
    return str_sub(text, text.n && (text.p[0] == '-' || text.p[0] == '+'), text.n);
}

bool quantity_is(str text)
{
    str rest = without_sign(text);
    struct decimal d;
    struct suffix suffix;

    return text.n <= LONGEST_TEXT && decimal_read(&rest, &d) && suffix_read(rest, &suffix);
}

bool quantity_parse(str text, sym name, int64_t *ret, bool *ret_binary, struct err *e)
{
    bool negative = text.n && text.p[0] == '-';
    str rest = without_sign(text);
    struct decimal d;
    struct suffix suffix;
    int64_t v;

    if (text.n > LONGEST_TEXT)
        return malformed(text, "is too long", e);
    if (!decimal_read(&rest, &d))
        return malformed(text, "is not a number", e);
    if (!suffix_read(rest, &suffix))
        return malformed(text, "has an unknown suffix", e);

    for (uint32_t i = 0; i < suffix.times1024; i++)
        decimal_times_1024(&d);
    d.exp += suffix.exp10 + unit_exp(name);
    if (!decimal_to_i64(&d, &v))
        return malformed(text,
                         sym_eq(name, SYM(CPU)) ? "is out of range (9.2 billion cores at most)"
                                                : "is out of range (about 9.2e15, or 8191Ti, at most)",
                         e);

    int64_t one = sym_eq(name, SYM(CPU)) ? 1000000000 : 1000;
    *ret_binary = suffix.times1024 != 0 && (v == 0 || v >= one); /* below one Kubernetes turns to decimal */
    *ret = negative ? -v : v;
    return true;
}

static void print_binary(struct sb *b, int64_t whole)
{
    static const char *const names[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    size_t power = 0;

    for (; whole % 1024 == 0; whole /= 1024)
        power++;
    sb_i64(b, whole);
    sb_c(b, names[power]);
}

static void print_decimal(struct sb *b, int64_t v, int32_t exp)
{
    static const char *const names[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};

    for (; v % 1000 == 0; v /= 1000)
        exp += 3;
    sb_i64(b, v);
    sb_c(b, names[(exp + 9) / 3]);
}

void quantity_print(struct sb *b, sym name, int64_t v, bool binary)
{
    int64_t one = sym_eq(name, SYM(CPU)) ? 1000000000 : 1000;

    if (v == 0)
        sb_char(b, '0');
    else if (binary && v % one == 0 && (v / one <= -1024 || v / one >= 1024))
        print_binary(b, v / one);
    else
        print_decimal(b, v, -unit_exp(name));
}

/* Where `name` is, or where it would go. */
static uint32_t reslist_at(const struct reslist *l, sym name)
{
    uint32_t i = 0;

    while (i < l->n && l->q[i].name.v < name.v)
        i++;
    return i;
}

const struct resq *reslist_get(const struct reslist *l, sym name)
{
    uint32_t i = reslist_at(l, name);

    return i < l->n && sym_eq(l->q[i].name, name) ? &l->q[i] : NULL;
}

int64_t reslist_value(const struct reslist *l, sym name)
{
    const struct resq *q = reslist_get(l, name);

    return q ? q->v : 0;
}

void reslist_set(struct arena *a, struct reslist *l, sym name, int64_t v, bool binary)
{
    uint32_t at = reslist_at(l, name);
    struct resq q = {.name = name, .binary = binary, .v = v};

    if (at < l->n && sym_eq(l->q[at].name, name)) {
        l->q[at] = q;
        return;
    }
    struct resq *moved = arena_new_array(a, struct resq, l->n + 1);
    if (at)
        memcpy(moved, l->q, at * sizeof(*moved));
    moved[at] = q;
    if (at < l->n)
        memcpy(moved + at + 1, l->q + at, (l->n - at) * sizeof(*moved));
    l->q = moved;
    l->n++;
}

/* How many names of `other` the list l does not have. */
static uint32_t names_missing(const struct reslist *l, const struct reslist *other)
{
    uint32_t missing = 0;

    for (uint32_t i = 0, j = 0; j < other->n; j++) {
        while (i < l->n && l->q[i].name.v < other->q[j].name.v)
            i++;
        missing += i == l->n || !sym_eq(l->q[i].name, other->q[j].name);
    }
    return missing;
}

/* Both operators below: room for the union first, then merge from the back, so that nothing is overwritten unread. */
typedef struct resq (*resq_join_fn)(struct resq mine, struct resq theirs);

static void reslist_join(struct arena *a, struct reslist *l, const struct reslist *other, resq_join_fn join)
{
    uint32_t i = l->n, j = other->n, missing = names_missing(l, other), out = l->n + missing;

    if (missing) {
        struct resq *moved = arena_new_array(a, struct resq, out);

        if (l->n)
            memcpy(moved, l->q, l->n * sizeof(*moved));
        l->q = moved;
        l->n = out;
    }
    while (j > 0) {
        if (i > 0 && sym_eq(l->q[i - 1].name, other->q[j - 1].name)) {
            i--, j--;
            l->q[--out] = join(l->q[i], other->q[j]);
        } else if (i > 0 && l->q[i - 1].name.v > other->q[j - 1].name.v) {
            l->q[--out] = l->q[--i];
        } else {
            l->q[--out] = other->q[--j];
        }
    }
}

static struct resq resq_sum(struct resq mine, struct resq theirs)
{
    if (mine.v == 0)
        mine.binary = theirs.binary; /* zero has no form of its own */
    mine.v = sat_add(mine.v, theirs.v);
    return mine;
}

static struct resq resq_larger(struct resq mine, struct resq theirs)
{
    return theirs.v > mine.v ? theirs : mine;
}

void reslist_add(struct arena *a, struct reslist *l, const struct reslist *more)
{
    reslist_join(a, l, more, resq_sum);
}

void reslist_max(struct arena *a, struct reslist *l, const struct reslist *other)
{
    reslist_join(a, l, other, resq_larger);
}

void reslist_sub(struct reslist *l, const struct reslist *less)
{
    for (uint32_t i = 0, j = 0; i < l->n; i++) {
        struct resq *q = &l->q[i];

        while (j < less->n && less->q[j].name.v < q->name.v)
            j++;
        if (j == less->n || !sym_eq(less->q[j].name, q->name))
            continue;
        if (q->v == 0)
            q->binary = less->q[j].binary;
        q->v = sat_sub(q->v, less->q[j].v);
    }
}

struct reslist reslist_dup(struct arena *a, const struct reslist *l)
{
    return (struct reslist){arena_dup_array(a, struct resq, l->q, l->n), l->n};
}

static void print_json_string(struct sb *b, str s)
{
    sb_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"' || s.p[i] == '\\')
            sb_char(b, '\\');
        if ((unsigned char)s.p[i] < 0x20)
            sb_printf(b, "\\u%04x", (unsigned)s.p[i]);
        else
            sb_char(b, s.p[i]);
    }
    sb_char(b, '"');
}

/* The first entry, in byte order of the names, that comes after `last`. */
static const struct resq *next_by_text(const struct reslist *l, const struct syms *t, const struct resq *last)
{
    const struct resq *best = NULL;

    for (uint32_t i = 0; i < l->n; i++) {
        str name = sym_str(t, l->q[i].name);

        if (last && str_cmp(name, sym_str(t, last->name)) <= 0)
            continue;
        if (!best || str_cmp(name, sym_str(t, best->name)) < 0)
            best = &l->q[i];
    }
    return best;
}

/* Quadratic, which for the handful of resources a list has costs less than sorting it elsewhere. */
void reslist_print_json(struct sb *b, const struct syms *t, const struct reslist *l)
{
    sb_char(b, '{');
    for (const struct resq *q = next_by_text(l, t, NULL), *first = q; q; q = next_by_text(l, t, q)) {
        if (q != first)
            sb_char(b, ',');
        print_json_string(b, sym_str(t, q->name));
        sb_c(b, ":\"");
        quantity_print(b, q->name, q->v, q->binary);
        sb_char(b, '"');
    }
    sb_char(b, '}');
}
