/* Runs a program over a text: all threads in step, in order of preference (Pike's machine). */
#include <stdlib.h>

#include "base/regex_impl.h"
#include "base/utf8.h"

/* Where a thread is, and where in the text its match began. */
struct thread {
    uint32_t pc;
    size_t start;
};

struct threads {
    struct thread *v;
    uint32_t n;
};

struct machine {
    const struct regex *r;
    str text;
    struct threads now, next;
    uint32_t *seen; /* seen[pc] == mark: pc has a thread at this place */
    uint32_t mark;
    uint32_t *stack; /* of pcs to follow */
};

static bool is_word(str text, size_t at)
{
    char c = at < text.n ? text.p[at] : ' ';

    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool holds(enum regex_assert what, str text, size_t at)
{
    bool boundary = (at > 0 && is_word(text, at - 1)) != is_word(text, at);

    switch (what) {
    case RE_TEXT_START:
        return at == 0;
    case RE_TEXT_END:
        return at == text.n;
    case RE_LINE_START:
        return at == 0 || text.p[at - 1] == '\n';
    case RE_LINE_END:
        return at == text.n || text.p[at] == '\n';
    case RE_WORD:
        return boundary;
    case RE_NOT_WORD:
        return !boundary;
    }
    return false;
}

/* Adds what can be reached from pc without a character, preferred ways first. */
static void follow(struct machine *m, struct threads *to, uint32_t pc, size_t start, size_t at)
{
    uint32_t depth = 0;

    m->stack[depth++] = pc;
    while (depth > 0) {
        pc = m->stack[--depth];
        if (m->seen[pc] == m->mark)
            continue;
        m->seen[pc] = m->mark;
        const struct regex_inst *i = &m->r->code[pc];
        switch (i->op) {
        case RE_JUMP:
            m->stack[depth++] = i->x;
            break;
        case RE_SPLIT:
            m->stack[depth++] = i->y;
            m->stack[depth++] = i->x;
            break;
        case RE_ASSERT:
            if (holds(i->what, m->text, at))
                m->stack[depth++] = pc + 1;
            break;
        case RE_RANGE:
        case RE_CLASS:
        case RE_MATCH:
            to->v[to->n++] = (struct thread){pc, start};
            break;
        }
    }
}

static bool in_class(const struct regex_class *c, uint32_t ch)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (ch >= c->ranges[i].lo && ch <= c->ranges[i].hi)
            return !c->negated;
    return c->negated;
}

static bool takes(const struct regex *r, const struct regex_inst *i, uint32_t ch)
{
    if (i->op == RE_RANGE)
        return ch >= i->range.lo && ch <= i->range.hi;
    return in_class(&r->classes[i->x], ch);
}

/* One character for every thread. A thread that has matched ends those that are less preferred. */
static bool step(struct machine *m, size_t at, size_t next_at, uint32_t ch, size_t *ret_start, size_t *ret_end)
{
    bool matched = false;

    m->next.n = 0;
    m->mark++;
    for (uint32_t t = 0; t < m->now.n; t++) {
        const struct thread *th = &m->now.v[t];
        const struct regex_inst *i = &m->r->code[th->pc];

        if (i->op == RE_MATCH) {
            *ret_start = th->start;
            *ret_end = at;
            matched = true;
            break;
        }
        if (at < m->text.n && takes(m->r, i, ch))
            follow(m, &m->next, th->pc + 1, th->start, next_at);
    }
    struct threads spare = m->now;
    m->now = m->next;
    m->next = spare;
    return matched;
}

static bool run(struct machine *m, size_t from, bool any, size_t *ret_start, size_t *ret_end)
{
    bool found = false;

    for (size_t at = from;;) {
        uint32_t ch = 0;
        size_t next_at = at < m->text.n ? at + utf8_step(m->text, at, &ch) : at + 1;

        if (!found) { /* a later start is the least preferred of all; its marks are those of this place */
            if (at == from)
                m->mark++;
            follow(m, &m->now, 0, at, at);
        }
        found |= step(m, at, next_at, ch, ret_start, ret_end);
        if ((found && (any || m->now.n == 0)) || at >= m->text.n)
            return found;
        at = next_at;
    }
}

static bool search(const struct regex *r, str text, size_t from, bool any, size_t *ret_start, size_t *ret_end)
{
    size_t n = r->n, room = 2 * n * sizeof(struct thread) + (n + 2 * n + 1) * sizeof(uint32_t);
    char *memory = xcalloc(1, room);
    struct machine m = {.r = r, .text = text};

    m.now.v = (struct thread *)(void *)memory;
    m.next.v = m.now.v + n;
    m.seen = (uint32_t *)(void *)(m.next.v + n);
    m.stack = m.seen + n;
    bool found = run(&m, from, any, ret_start, ret_end);
    free(memory);
    return found;
}

bool regex_matches(const struct regex *r, str text)
{
    size_t start, end;

    return search(r, text, 0, /* any= */ true, &start, &end);
}

bool regex_find(const struct regex *r, str text, size_t from, size_t *ret_start, size_t *ret_end)
{
    return from <= text.n && search(r, text, from, /* any= */ false, ret_start, ret_end);
}

uint64_t regex_cost(const struct regex *r, size_t text_length)
{
    return ((uint64_t)text_length + 1) * r->n;
}
