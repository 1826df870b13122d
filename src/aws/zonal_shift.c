/* Zones that traffic is being moved away from (ARC zonal shift). */
#include "aws/services_int.h"
#include "net/http.h"

struct shifts {
    struct zonal_shift *v;
    uint32_t n;
};

static bool is_applied(struct wire *w, const struct tree *t, void *ret)
{
    struct zonal_shift *s = ret;
    str status;

    if (!wire_find(w, t, "appliedStatus", &status))
        return false;
    s->applied = str_is(status, "APPLIED");
    return true;
}

static const struct wire_field shift_fields[] = {
    WIRE(zonal_shift, zone_id, WIRE_TEXT, "awayFrom"),
    WIRE(zonal_shift, expires_ms, WIRE_EPOCH, "expiryTime"),
};
static const struct wire_shape shift_shape = WIRE_SHAPE(zonal_shift, shift_fields, .more = is_applied);

static const struct wire_field shifts_fields[] = {
    WIRE_COUNTED(shifts, v, n, WIRE_LIST, "zonalShifts[]", .shape = &shift_shape),
};
const struct wire_shape zonal_shifts_shape = WIRE_SHAPE(shifts, shifts_fields);

bool zonal_shifts(struct aws *c, struct arena *a, str resource_arn, struct zonal_shift **ret, uint32_t *ret_n,
                  struct err *e)
{
    struct sb path = {0};
    struct shifts s = {0};

    sb_c(&path, "/managedresources/");
    url_encode(&path, resource_arn);
    struct aws_call call = {
        .service = AWS_ZONAL_SHIFT, .action = "GetManagedResource", .method = "GET", .path = sb_view(&path)};
    bool ok = aws_ask(c, a, &call, &zonal_shifts_shape, &s, NULL, e);
    sb_fini(&path);
    if (ok) {
        *ret = s.v;
        *ret_n = s.n;
    }
    return ok;
}
