/* Durations and times: what was read prints, and what is printed reads back as the same moment or span. */
#include "base/sb.h"
#include "model/duration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Days reach from year 0 to 9999, which is what RFC 3339 can say. */
#define FIRST_MS (-62167219200000)
#define LAST_MS 253402300799999

static void check_duration(int64_t ns)
{
    struct sb b = {0};
    struct err e;
    int64_t again;

    duration_print(&b, ns);
    assert(duration_parse(sb_view(&b), &again, &e));
    assert(again == ns);
    sb_fini(&b);
}

static void check_time(int64_t ms)
{
    struct sb b = {0};
    struct err e;
    int64_t again;

    time_print_rfc3339(&b, ms);
    if (ms >= FIRST_MS && ms <= LAST_MS) {
        assert(time_parse_rfc3339(sb_view(&b), &again, &e));
        assert(again <= ms && ms - again < 1000 && again % 1000 == 0);
    }
    sb_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = {(const char *)data, size};
    struct err e = {0};
    int64_t v;

    if (duration_parse_nillable(text, &v, &e))
        check_duration(v);
    else
        assert(e.kind == ERR_INVALID && e.msg[0]);
    if (time_parse_rfc3339(text, &v, &e)) {
        assert(v >= FIRST_MS - 86400000 && v <= LAST_MS + 86400000);
        check_time(v);
    }
    if (size >= sizeof(v)) {
        memcpy(&v, data, sizeof(v));
        check_duration(v);
        check_time(v);
    }
    return 0;
}
