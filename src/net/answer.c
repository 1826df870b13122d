#include "net/answer.h"

#define PER_LINE 4u /* bytes between and after name and value */

void answer_begin(struct answer *a, int status)
{
    sb_reset(&a->text);
    a->ends.n = 0;
    a->status = status;
}

bool answer_add(struct answer *a, str name, str value)
{
    a->bytes += name.n + value.n + PER_LINE;
    if (a->bytes > HTTP_MAX_HEAD)
        return false;
    sb_str(&a->text, name);
    vec_push(&a->ends, a->text.n);
    sb_str(&a->text, value);
    vec_push(&a->ends, a->text.n);
    return true;
}

void answer_complete(struct answer *a, struct http_call *c)
{
    VEC(struct http_header) list = {0};
    size_t at = 0;

    for (uint32_t i = 0; i + 1 < a->ends.n; i += 2) {
        size_t name_end = a->ends.v[i], value_end = a->ends.v[i + 1];

        vec_push(&list,
                 (struct http_header){{a->text.p + at, name_end - at}, {a->text.p + name_end, value_end - name_end}});
        at = value_end;
    }
    a->done = true;
    http_call_head(c, a->status, list.v, list.n);
    vec_fini(&list);
}

bool answer_too_long(struct err *e)
{
    return err_set(e, ERR_INVALID, "the answer's head is longer than %u bytes", HTTP_MAX_HEAD);
}

void answer_fini(struct answer *a)
{
    sb_fini(&a->text);
    vec_fini(&a->ends);
}
