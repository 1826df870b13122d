/* Whatever an answer of AWS is, reading it ends: with structs whose texts and lists can be walked, the same ones every time, or with a sentence. */
#include "aws/ec2_int.h"
#include "aws/services_int.h"
#include "data/reader.h"
#include "data/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct aws_listing *const listings[] = {
    &ec2_types_listing,     &ec2_type_zones_listing,   &ec2_spot_prices_listing,      &ec2_subnets_listing,
    &ec2_groups_listing,    &ec2_images_listing,       &ec2_placement_groups_listing, &ec2_templates_listing,
    &ec2_instances_listing, &ec2_reservations_listing, &ec2_status_listing,           &ec2_terminate_listing,
    &iam_profiles_listing,  &pricing_listing,
};
static const struct wire_shape *const shapes[] = {
    &ec2_fleet_shape, &ec2_created_template_shape, &eks_cluster_shape, &sqs_messages_shape, &zonal_shifts_shape,
};

static uint32_t walk(const struct wire_shape *s, const char *v, uint32_t n);

static uint32_t walk_text(const str *s)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < s->n; i++)
        sum = sum * 31 + (unsigned char)s->p[i];
    return sum;
}

static uint32_t walk_field(const struct wire_field *f, const char *v)
{
    const void *at = v + f->at;
    uint32_t n = f->n_at ? *(const uint32_t *)(const void *)(v + f->n_at) : 0, sum = n;

    if (f->kind == WIRE_TEXT)
        return walk_text(at);
    if (f->kind == WIRE_I32)
        assert(*(const int32_t *)at >= 0);
    else if (f->kind == WIRE_I64)
        assert(*(const int64_t *)at >= 0);
    else if (f->kind == WIRE_PART)
        return walk(f->shape, at, 1);
    else if (f->kind == WIRE_LIST)
        return sum * 31 + walk(f->shape, *(char *const *)at, n);
    else if (f->kind == WIRE_TEXTS)
        for (uint32_t i = 0; i < n; i++)
            sum = sum * 31 + walk_text(*(str *const *)at + i);
    return sum;
}

/* A sum over all that was read. */
static uint32_t walk(const struct wire_shape *s, const char *v, uint32_t n)
{
    uint32_t sum = n;

    for (uint32_t i = 0; i < n; i++, v += s->size)
        for (uint32_t k = 0; k < s->n_fields; k++)
            sum = sum * 31 + walk_field(&s->fields[k], v);
    return sum;
}

static uint32_t read_listing(const struct aws_listing *l, const struct tree *t)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};
    struct wire w = {.a = a, .action = l->action, .e = &e};
    struct wire_items items = {0};
    uint32_t n, sum = 0;
    str token;

    if (aws_page_read(&w, l, t, &items, &token)) {
        const char *v = wire_keep(&w, l->shape, &items, &n);

        sum = walk(l->shape, v, n);
    } else {
        assert(e.kind == ERR_INVALID && e.msg[0]);
    }
    wire_drop(&items);
    wire_fini(&w);
    return sum;
}

static uint32_t read_shape(const struct wire_shape *s, const struct tree *t)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};
    struct wire w = {.a = a, .action = "fuzz", .e = &e};
    void *v = arena_alloc(a, s->size, 8);
    uint32_t sum = 0;

    if (wire_read(&w, s, t, v))
        sum = walk(s, v, 1);
    else
        assert(e.kind == ERR_INVALID && e.msg[0]);
    wire_fini(&w);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str text = {(const char *)data, size}, root;
    struct err e = {0};
    const struct tree *t;

    if (size && data[0] == '{') {
        if (!tree_parse_json(a, "fuzz", text, &t, &e))
            return 0;
    } else if (!(t = xml_read(a, text, &root, &e))) {
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(listings); i++)
        assert(read_listing(listings[i], t) == read_listing(listings[i], t));
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        assert(read_shape(shapes[i], t) == read_shape(shapes[i], t));
    return 0;
}
