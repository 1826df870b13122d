/* A message of the interruption queue. What is read names machines only where the kind has some; what is not is an error with words, and changes nothing. */
#include "control/aws/interruption_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct interruption m = {.n = UINT32_MAX};
    struct err e = {0};

    if (!interruption_parse(a, (str){(const char *)data, size}, &m, &e)) {
        assert(e.kind == ERR_INVALID && e.msg[0] && m.n == UINT32_MAX);
        return 0;
    }
    assert(m.kind < INTERRUPTION_INSTANCE_STATUS && interruption_kind_name(m.kind)[0]);
    assert(m.kind != INTERRUPTION_NONE || m.n == 0);
    for (uint32_t i = 0; i < m.n; i++)
        assert(m.instances[i].n <= size);
    return 0;
}
