/* A line of a label selector, a line of a field selector: whatever they are, they can be read or are refused with a sentence. */
#include "sim/kube/kube.h"
#include "sim/kube/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const selectable[] = {"spec.nodeName", NULL};
    static const struct label labels[] = {{STR_INIT("app"), STR_INIT("web")}, {STR_INIT("n"), STR_INIT("5")}};
    static const struct label fields[] = {{STR_INIT("spec.nodeName"), STR_INIT("n1")}};
    static const struct object o = {.ns = STR_INIT("default"),
                                    .name = STR_INIT("p"),
                                    .labels = labels,
                                    .n_labels = 2,
                                    .fields = fields,
                                    .n_fields = 1};
    AUTO(arena) struct arena *a = arena_new(0);
    const struct selector *s;
    struct err e = {0};
    str first, second;

    (void)str_cut((str){(const char *)data, size}, '\n', &first, &second);
    if (!selector_parse_query(a, first, second, size % 2 ? selectable : NULL, &s, &e)) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        return 0;
    }
    (void)selector_matches_object(s, &o);
    if (selector_is_empty(s))
        assert(selector_matches_object(s, &o));
    return 0;
}
