#include "model/pod.h"

moment moment_of_ms(int64_t ms)
{
    if (ms == INT64_MIN)
        return (moment){0};
    int64_t s = ms / 1000;
    return (moment){s < 1 ? 1 : s > UINT32_MAX ? UINT32_MAX : (uint32_t)s};
}
