/* OpenAPI documents, made when somebody asks and kept until a custom kind comes, changes or goes. */
#include "sim/kube/front_int.h"

#include "sim/kube/openapi.h"

static void forget(struct front *f)
{
    for (uint32_t i = 0; i < f->documents.n; i++) {
        struct document *d = &f->documents.v[i];

        free(d->path);
        free(d->etag);
        sb_fini(&d->text);
    }
    f->documents.n = 0;
}

void documents_fini(struct front *f)
{
    forget(f);
    vec_fini(&f->documents);
}

static const struct document *find(struct front *f, str path)
{
    if (f->documents_version != kube_kinds_version(f->kube))
        forget(f);
    f->documents_version = kube_kinds_version(f->kube);
    for (uint32_t i = 0; i < f->documents.n; i++)
        if (str_is(path, f->documents.v[i].path))
            return &f->documents.v[i];
    return NULL;
}

/* /openapi/v2, /openapi/v3, /openapi/v3/api/VERSION, /openapi/v3/apis/GROUP/VERSION */
static bool write_document(struct request *r, struct sb *out)
{
    const struct route *t = &r->route;
    str version = str_c(kube_settings(r->kube)->version);
    VEC(const struct kind *) kinds = {0};
    bool ok = true;

    for (uint32_t i = 0; i < kube_n_kinds(r->kube); i++)
        if (kube_kind_at(r->kube, i))
            vec_push(&kinds, kube_kind_at(r->kube, i));
    if (t->n_segs == 2 && str_is(t->segs[1], "v2"))
        openapi_v2(out, kinds.v, kinds.n, version);
    else if (t->n_segs == 2 && str_is(t->segs[1], "v3"))
        openapi_index(out, kinds.v, kinds.n, version);
    else if (t->n_segs == 4 && str_is(t->segs[1], "v3") && str_is(t->segs[2], "api"))
        ok = openapi_v3(out, kinds.v, kinds.n, (str){0}, t->segs[3], version);
    else if (t->n_segs == 5 && str_is(t->segs[1], "v3") && str_is(t->segs[2], "apis") && t->segs[3].n)
        ok = openapi_v3(out, kinds.v, kinds.n, t->segs[3], t->segs[4], version);
    else
        ok = false;
    vec_fini(&kinds);
    return ok;
}

static bool wants_protobuf(const struct request *r)
{
    return str_is(r->x->path, "/openapi/v2") &&
           str_starts(request_header(r, "Accept"), STR("application/com.github.proto-openapi."));
}

static bool serve_protobuf(struct request *r)
{
    struct sb b = {0};

    openapi_v2_protobuf(&b, str_c(kube_settings(r->kube)->version));
    reply_body(r, 200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", sb_dup(&b, r->a));
    sb_fini(&b);
    return true;
}

bool serve_openapi(struct request *r, struct status *st)
{
    if (wants_protobuf(r))
        return serve_protobuf(r);
    const struct document *d = find(r->front, r->x->path);
    struct sb text = {0};

    if (!accept_parse(r, /* as_objects= */ false, /* watch= */ false, st))
        return false;
    if (!d && !write_document(r, &text)) {
        sb_fini(&text);
        reply_body(r, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
        return true;
    }
    if (!d) {
        vec_push(&r->front->documents, (struct document){.path = front_strdup(r->x->path),
                                                         .text = text,
                                                         .etag = front_strdup(document_etag(r->a, sb_view(&text)))});
        d = &vec_last(&r->front->documents);
    }
    reply_document(r, "application/json", sb_view(&d->text), str_c(d->etag));
    return true;
}
