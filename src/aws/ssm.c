/* Parameters: names of images that change with every release. */
#include "aws/calls.h"
#include "aws/services.h"
#include "data/json.h"

struct parameter {
    str value;
};

static const struct wire_field parameter_fields[] = {WIRE(parameter, value, WIRE_TEXT, "Parameter/Value")};
static const struct wire_shape parameter_shape = WIRE_SHAPE(parameter, parameter_fields);

bool ssm_get_parameter(struct aws *c, struct arena *a, str name, str *ret, struct err *e)
{
    struct sb body = {0};
    struct jw w = {.out = &body};
    struct parameter p = {0};

    jw_map(&w);
    jw_key(&w, "Name");
    jw_str(&w, name);
    jw_end(&w);
    struct aws_call call = {.service = AWS_SSM, .action = "GetParameter", .body = sb_view(&body)};
    bool ok = aws_ask(c, a, &call, &parameter_shape, &p, NULL, e);
    sb_fini(&body);
    if (ok)
        *ret = p.value;
    return ok;
}
