/* Apart from the tally: the server's headers and the model's have names in common. */
#include "cli/simulate/room.h"

#include "model/quantity.h"

static int64_t milli_of(const struct tree *list, const char *key)
{
    str text = tree_scalar(tree_get(list, key));
    int64_t v;
    bool binary;
    struct err e;

    return text.n && quantity_parse(text, SYM(MEMORY), &v, &binary, &e) && v > 0 ? v : 0;
}

struct room room_of(const struct tree *resource_list)
{
    return (struct room){milli_of(resource_list, "cpu"), milli_of(resource_list, "memory") / 1000};
}

bool room_is_quantity(str text)
{
    int64_t v;
    bool binary;
    struct err e;

    return quantity_parse(text, SYM(MEMORY), &v, &binary, &e) && v >= 0;
}
