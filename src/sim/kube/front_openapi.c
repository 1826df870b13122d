/* OpenAPI documents, made when somebody asks and kept until a custom kind comes or goes. */
#include "sim/kube/front_int.h"

void documents_fini(struct front *f)
{
    for (uint32_t i = 0; i < f->documents.n; i++) {
        free(f->documents.v[i].path);
        free(f->documents.v[i].text);
        free(f->documents.v[i].etag);
    }
    vec_fini(&f->documents);
}
bool serve_openapi(struct request *r, struct status *st) { return refuse_path(r, st); }
