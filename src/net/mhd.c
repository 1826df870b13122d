#include "net/mhd.h"

#include <dlfcn.h>

static const struct mhd linked = {
#define MHD_LINKED(name) .name = MHD_##name,
    MHD_FUNCTIONS(MHD_LINKED)
#undef MHD_LINKED
};

#ifdef MHD_WITHOUT_TLS

#define LIBRARY "libmicrohttpd.so.12"

/* Stays for good: its connections may outlive any one server. */
static const struct mhd *load(struct err *e)
{
    static struct mhd loaded;
    void *lib;

    if (loaded.run)
        return &loaded;
    if (!(lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL))) {
        (void)err_set(e, ERR_IO, "serving TLS takes " LIBRARY ": %s", dlerror());
        return NULL;
    }
    struct mhd all = {0};
    bool complete = true;

#define MHD_LOAD(name)                                                                                                 \
    *(void **)&all.name = dlsym(lib, "MHD_" #name);                                                                    \
    complete = complete && all.name;
    MHD_FUNCTIONS(MHD_LOAD)
#undef MHD_LOAD
    if (!complete) {
        (void)err_set(e, ERR_IO, "serving TLS takes another " LIBRARY ": this one lacks functions");
        (void)dlclose(lib);
        return NULL;
    }
    loaded = all;
    return &loaded;
}

#else

static const struct mhd *load(struct err *e)
{
    (void)e;
    return &linked;
}

#endif

const struct mhd *mhd_get(bool with_tls, struct err *e)
{
    return with_tls ? load(e) : &linked;
}
