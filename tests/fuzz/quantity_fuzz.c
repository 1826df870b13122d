/* A quantity that was read prints as a text that reads back as the same value, for both units. */
#include "base/sb.h"
#include "model/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(str text, sym name)
{
    struct sb b = {0};
    struct err e = {0};
    int64_t v, again;
    bool binary, binary_again;

    if (!quantity_parse(text, name, &v, &binary, &e)) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        return;
    }
    quantity_print(&b, name, v, binary);
    assert(quantity_parse(sb_view(&b), name, &again, &binary_again, &e));
    assert(again == v);
    assert(!binary_again || binary); /* the form may get lost ("0.5Ki" is "512"), but does not come from nowhere */
    sb_fini(&b);
}

/* A number as such: whatever it is, it prints, and what is printed reads back. */
static void check_value(int64_t v, sym name, bool binary)
{
    struct sb b = {0};
    struct err e;
    int64_t again;
    bool binary_again;

    if (v == INT64_MIN) /* the one value that no text stands for */
        return;
    quantity_print(&b, name, v, binary);
    assert(quantity_parse(sb_view(&b), name, &again, &binary_again, &e) && again == v);
    sb_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = {(const char *)data, size};
    int64_t v;

    check(text, SYM(CPU));
    check(text, SYM(MEMORY));
    if (size >= sizeof(v)) {
        memcpy(&v, data, sizeof(v));
        check_value(v, SYM(CPU), size % 2);
        check_value(v, SYM(MEMORY), size % 2);
    }
    return 0;
}
