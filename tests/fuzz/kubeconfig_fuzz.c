/* Bytes as a kubeconfig, and as what an exec plugin writes: read or refused with a sentence. */
#include "k8s/exec_plugin.h"
#include "k8s/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_config(str bytes)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct kubeconfig k = {.arena = a};
    struct kubeconfig_choice c;
    struct err e = {0};

    if (kubeconfig_add(&k, "dir/config", bytes, &e) && kubeconfig_choose(&k, NULL, &c, &e)) {
        assert(c.context.n && c.server.n);
        assert((c.cert.data.n || c.cert.path.n) == (c.key.data.n || c.key.path.n));
        assert(!c.ca.path.n || c.ca.path.p[0] == '/' || str_starts(c.ca.path, STR("dir/")));
        assert(!c.exec || (c.exec->command.n && c.exec->api_version.n));
        if (c.exec)
            (void)exec_info(a, c.exec, &(struct exec_cluster){.server = c.server});
    } else {
        assert(e.kind != ERR_NONE && e.msg[0]);
    }
    kubeconfig_fini(&k);
}

static void as_credential(str bytes)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct kubeconfig_exec x = {.command = STR_INIT("p"), .api_version = STR_INIT("client.authentication.k8s.io/v1")};
    struct exec_credential c;
    struct err e = {0};

    if (exec_credential_read(a, &x, bytes, &c, &e))
        assert((c.token.n || c.cert_pem.n) && !c.cert_pem.n == !c.key_pem.n);
    else
        assert(e.kind == ERR_INVALID && e.msg[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str bytes = {(const char *)data, size};

    as_config(bytes);
    as_credential(bytes);
    return 0;
}
