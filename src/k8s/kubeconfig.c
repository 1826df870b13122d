#include "k8s/kubeconfig.h"

#include <stdio.h>

#include "data/reader.h"

#define EXEC_GROUP "client.authentication.k8s.io/"

void kubeconfig_fini(struct kubeconfig *k)
{
    vec_fini(&k->files);
}

bool kubeconfig_add(struct kubeconfig *k, const char *path, str text, struct err *e)
{
    const struct tree *t;

    if (!tree_parse_yaml(k->arena, path, text, &t, e))
        return false;
    if (t->kind != TREE_MAP && t->kind != TREE_NULL)
        return err_set(e, ERR_INVALID, "%s: is no kubeconfig", path);
    vec_push(&k->files, (struct kubeconfig_file){arena_strdup(k->arena, str_c(path)), t});
    return true;
}

/* ---- one entry ---- */

/* clusters: [{name: …, cluster: {…}}] and its like. Errors say "file: users[name].field: what". */
struct entry {
    struct arena *arena;
    const struct kubeconfig_file *file;
    const char *list;
    str name;
    const struct tree *body;
};

static bool entry_error(const struct entry *n, const char *field, struct err *e, const char *what)
{
    return err_set(e, ERR_INVALID, STR_FMT ": %s[" STR_FMT "].%s: %s", STR_ARG(n->file->path), n->list,
                   STR_ARG(n->name), field, what);
}

static bool entry_str_of(const struct entry *n, const struct tree *map, const char *field, str *ret, struct err *e)
{
    const struct tree *t = tree_get(map, field);

    *ret = tree_str(t);
    if (!t || t->kind == TREE_STRING)
        return !memchr(ret->p ? ret->p : "", '\0', ret->n) || entry_error(n, field, e, "has a NUL byte");
    return entry_error(n, field, e, "must be a string");
}

static bool entry_str(const struct entry *n, const char *field, str *ret, struct err *e)
{
    return entry_str_of(n, n->body, field, ret, e);
}

static str beside(const struct entry *n, str path)
{
    str dir = n->file->path;

    if (!path.n || path.p[0] == '/')
        return path;
    while (dir.n && dir.p[dir.n - 1] != '/')
        dir.n--;
    return arena_printf(n->arena, STR_FMT STR_FMT, STR_ARG(dir), STR_ARG(path));
}

static bool entry_path(const struct entry *n, const char *field, str *ret, struct err *e)
{
    if (!entry_str(n, field, ret, e))
        return false;
    *ret = beside(n, *ret);
    return true;
}

static bool entry_bool(const struct entry *n, const char *field, bool *ret, struct err *e)
{
    const struct tree *t = tree_get(n->body, field);

    *ret = tree_is_true(t);
    return !t || t->kind == TREE_BOOL || entry_error(n, field, e, "must be true or false");
}

static bool entry_blob(const struct entry *n, const char *field, struct kubeconfig_blob *ret, struct err *e)
{
    char data_field[64];

    (void)snprintf(data_field, sizeof(data_field), "%s-data", field);
    return entry_str(n, data_field, &ret->data, e) && entry_path(n, field, &ret->path, e);
}

/* The first entry of that name, its body under `member`; false with no error when there is none. */
static bool find(const struct kubeconfig *k, const char *list, const char *member, str name, struct entry *ret)
{
    for (uint32_t i = 0; i < k->files.n; i++) {
        const struct tree *entries = tree_get(k->files.v[i].root, list);

        for (uint32_t j = 0; entries && entries->kind == TREE_LIST && j < entries->n; j++)
            if (str_eq(tree_str(tree_get(&entries->items[j], "name")), name)) {
                *ret = (struct entry){k->arena, &k->files.v[i], list, name, tree_get(&entries->items[j], member)};
                return true;
            }
    }
    return false;
}

/* ---- the parts ---- */

static bool take_cluster(const struct entry *n, struct kubeconfig_choice *c, struct err *e)
{
    if (!entry_str(n, "server", &c->server, e) || !entry_str(n, "tls-server-name", &c->server_name, e) ||
        !entry_str(n, "proxy-url", &c->proxy, e) || !entry_bool(n, "insecure-skip-tls-verify", &c->insecure, e) ||
        !entry_blob(n, "certificate-authority", &c->ca, e))
        return false;
    if (!c->server.n)
        return entry_error(n, "server", e, "is missing");
    if (c->insecure && (c->ca.data.n || c->ca.path.n))
        return entry_error(n, "insecure-skip-tls-verify", e, "makes no sense with a certificate authority");
    return true;
}

static bool take_args(const struct entry *n, const struct tree *exec, struct kubeconfig_exec *x, struct err *e)
{
    const struct tree *list = tree_get(exec, "args");

    if (list && list->kind != TREE_LIST)
        return entry_error(n, "exec.args", e, "must be a list");
    x->n_args = list ? list->n : 0;
    str *args = arena_new_array(n->arena, str, x->n_args);
    for (uint32_t i = 0; i < x->n_args; i++) {
        args[i] = list->items[i].text;
        if (list->items[i].kind != TREE_STRING || memchr(args[i].p ? args[i].p : "", '\0', args[i].n))
            return entry_error(n, "exec.args", e, "must be strings");
    }
    x->args = args;
    return true;
}

static bool take_env(const struct entry *n, const struct tree *exec, struct kubeconfig_exec *x, struct err *e)
{
    const struct tree *list = tree_get(exec, "env");

    if (list && list->kind != TREE_LIST)
        return entry_error(n, "exec.env", e, "must be a list");
    x->n_env = list ? list->n : 0;
    str *env = arena_new_array(n->arena, str, x->n_env);
    for (uint32_t i = 0; i < x->n_env; i++) {
        str name, value;

        if (!entry_str_of(n, &list->items[i], "name", &name, e) ||
            !entry_str_of(n, &list->items[i], "value", &value, e))
            return false;
        if (!name.n || memchr(name.p, '=', name.n))
            return entry_error(n, "exec.env", e, "has a variable without a name");
        env[i] = arena_printf(n->arena, STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value));
    }
    x->env = env;
    return true;
}

/* What a cluster's extensions say to exec plugins. */
static const struct tree *own_words(const struct entry *cluster)
{
    const struct tree *list = tree_get(cluster->body, "extensions");

    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "name")), EXEC_GROUP "exec"))
            return tree_get(&list->items[i], "extension");
    return NULL;
}

static bool take_exec(const struct entry *n, const struct entry *cluster, struct kubeconfig_choice *c, struct err *e)
{
    const struct tree *exec = tree_get(n->body, "exec");
    struct kubeconfig_exec *x = arena_new_one(n->arena, struct kubeconfig_exec);
    str mode;

    if (!exec)
        return true;
    if (exec->kind != TREE_MAP)
        return entry_error(n, "exec", e, "must be a map");
    if (!entry_str_of(n, exec, "command", &x->command, e) || !entry_str_of(n, exec, "apiVersion", &x->api_version, e) ||
        !entry_str_of(n, exec, "installHint", &x->install_hint, e) ||
        !entry_str_of(n, exec, "interactiveMode", &mode, e) || !take_args(n, exec, x, e) || !take_env(n, exec, x, e))
        return false;
    if (!x->command.n)
        return entry_error(n, "exec.command", e, "is missing");
    if (!str_is(x->api_version, EXEC_GROUP "v1") && !str_is(x->api_version, EXEC_GROUP "v1beta1"))
        return entry_error(n, "exec.apiVersion", e, "must be " EXEC_GROUP "v1 or " EXEC_GROUP "v1beta1");
    if (str_is(mode, "Always"))
        return entry_error(n, "exec.interactiveMode", e, "is Always, but there is nobody to talk to");
    if (memchr(x->command.p, '/', x->command.n))
        x->command = beside(n, x->command);
    x->cluster_info = tree_is_true(tree_get(exec, "provideClusterInfo"));
    x->cluster_own = own_words(cluster);
    c->exec = x;
    return true;
}

static bool take_user(const struct entry *n, const struct entry *cluster, struct kubeconfig_choice *c, struct err *e)
{
    static const struct {
        const char *field, *why;
    } refused[] = {
        {"auth-provider", "auth providers are not supported, use an exec plugin"},
        {"username", "names and passwords are not supported, use a token or a client certificate"},
        {"as", "acting as somebody else is not supported"},
    };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (tree_get(n->body, refused[i].field))
            return entry_error(n, refused[i].field, e, refused[i].why);
    if (!entry_str(n, "token", &c->token, e) || !entry_path(n, "tokenFile", &c->token_file, e) ||
        !entry_blob(n, "client-certificate", &c->cert, e) || !entry_blob(n, "client-key", &c->key, e) ||
        !take_exec(n, cluster, c, e))
        return false;
    bool cert = c->cert.data.n || c->cert.path.n, key = c->key.data.n || c->key.path.n;
    if (cert != key)
        return entry_error(n, cert ? "client-key" : "client-certificate", e, "is missing");
    return true;
}

static str current_context(const struct kubeconfig *k)
{
    for (uint32_t i = 0; i < k->files.n; i++) {
        str s = tree_str(tree_get(k->files.v[i].root, "current-context"));

        if (s.n)
            return s;
    }
    return (str){0};
}

bool kubeconfig_choose(const struct kubeconfig *k, const char *context, struct kubeconfig_choice *ret, struct err *e)
{
    struct kubeconfig_choice c = {.context = context ? str_c(context) : current_context(k)};
    struct entry chosen, cluster, user;
    str files = k->files.n ? k->files.v[0].path : STR("kubeconfig");

    if (!c.context.n)
        return err_set(e, ERR_INVALID, STR_FMT ": there is no current-context; name a context", STR_ARG(files));
    if (!find(k, "contexts", "context", c.context, &chosen))
        return err_set(e, ERR_NOT_FOUND, STR_FMT ": there is no context \"" STR_FMT "\"", STR_ARG(files),
                       STR_ARG(c.context));
    if (!entry_str(&chosen, "cluster", &c.cluster, e) || !entry_str(&chosen, "user", &c.user, e) ||
        !entry_str(&chosen, "namespace", &c.ns, e))
        return false;
    if (!find(k, "clusters", "cluster", c.cluster, &cluster))
        return err_set(e, ERR_NOT_FOUND, STR_FMT ": contexts[" STR_FMT "]: there is no cluster \"" STR_FMT "\"",
                       STR_ARG(chosen.file->path), STR_ARG(c.context), STR_ARG(c.cluster));
    if (!take_cluster(&cluster, &c, e))
        return false;
    if (c.user.n && !find(k, "users", "user", c.user, &user))
        return err_set(e, ERR_NOT_FOUND, STR_FMT ": contexts[" STR_FMT "]: there is no user \"" STR_FMT "\"",
                       STR_ARG(chosen.file->path), STR_ARG(c.context), STR_ARG(c.user));
    if (c.user.n && !take_user(&user, &cluster, &c, e))
        return false;
    *ret = c;
    return true;
}
