#include "support/sky.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/b64.h"
#include "base/file.h"
#include "data/edit.h"
#include "data/reader.h"
#include "support/check.h"

#define SERVER ("https://" SKY_CLUSTER)
#define ACCOUNT "tests/vectors/aws/world.json"
#define ENDPOINT "https://aws.test"
#define ROLE "arn:aws:iam::123456789012:role/test-role"
#define WEB_TOKEN "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"
#define POD_TOKEN "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount/eks-pod-identity-token"
#define TOKEN_S 3600 /* a kubelet replaces a token when a fifth of its time is left */

static const char usual_types[] = "c5.large,c5.xlarge,c5.2xlarge,c6a.large,c6a.xlarge,c6g.large,c6g.xlarge,m5.large,"
                                  "m5.xlarge,m5.2xlarge,m6i.large,m6i.xlarge,m6i.2xlarge,m6g.large,m6g.xlarge,"
                                  "m7g.2xlarge,r5.large,r5.xlarge,t3.medium";

static const char own_members[] =
    "{\"subnets\":["
    "{\"SubnetId\":\"subnet-a\",\"AvailabilityZone\":\"test-zone-1a\",\"AvailabilityZoneId\":\"tstz1-1a\",\"VpcId\":"
    "\"vpc-test1\",\"CidrBlock\":\"10.1.0.0/16\",\"AvailableIpAddressCount\":65000,"
    "\"Tags\":[{\"Key\":\"sky\",\"Value\":\"yes\"},{\"Key\":\"half\",\"Value\":\"yes\"}]},"
    "{\"SubnetId\":\"subnet-b\",\"AvailabilityZone\":\"test-zone-1b\",\"AvailabilityZoneId\":\"tstz1-1b\",\"VpcId\":"
    "\"vpc-test1\",\"CidrBlock\":\"10.2.0.0/16\",\"AvailableIpAddressCount\":65000,"
    "\"Tags\":[{\"Key\":\"sky\",\"Value\":\"yes\"},{\"Key\":\"half\",\"Value\":\"yes\"}]},"
    "{\"SubnetId\":\"subnet-c\",\"AvailabilityZone\":\"test-zone-1c\",\"AvailabilityZoneId\":\"tstz1-1c\",\"VpcId\":"
    "\"vpc-test1\",\"CidrBlock\":\"10.3.0.0/16\",\"AvailableIpAddressCount\":65000,"
    "\"Tags\":[{\"Key\":\"sky\",\"Value\":\"yes\"}]}],"
    "\"capacityReservations\":[],"
    "\"keys\":{\"AKIDEXAMPLE\":\"" SKY_SECRET "\"}}";

/* ---- the account ---- */

static bool is_listed(str name, str list)
{
    str one;

    while (list.n) {
        (void)str_cut(list, ',', &one, &list);
        if (str_eq(one, name))
            return true;
    }
    return false;
}

static void keep_types(struct tree *all, str wanted)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < all->n; i++)
        if (is_listed(tree_str(tree_get(&all->items[i], "InstanceType")), wanted))
            all->items[kept++] = all->items[i];
    all->n = kept;
}

static void keep_keys(struct tree *map, str wanted)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < map->n; i++)
        if (is_listed(map->keys[i], wanted)) {
            map->keys[kept] = map->keys[i];
            map->items[kept++] = map->items[i];
        }
    map->n = kept;
}

/* With one type of metal: AWS has some everywhere, and a list of prices without any is not believed (aws 5.9). */
static struct tree *account_of(struct arena *a, const char *some)
{
    str types = arena_printf(a, "%s,m5.metal", some);
    static const char *const by_type[] = {"instanceTypeOfferings", "onDemandPrices", "spotPrices"};
    const struct tree *given = NULL, *own = NULL;
    struct err e = {0};
    str text;

    check_ok(ACCOUNT, file_read(a, ACCOUNT, 64u << 20, &text, &e), &e);
    check_ok(ACCOUNT, tree_parse_json(a, ACCOUNT, text, &given, &e), &e);
    check_ok("members", tree_parse_json(a, "members", STR(own_members), &own, &e), &e);
    struct tree *t = tree_copy(a, given);

    for (uint32_t i = 0; i < own->n; i++)
        *tree_put(a, t, own->keys[i]) = own->items[i];
    keep_types(tree_put(a, t, STR("instanceTypes")), types);
    for (size_t i = 0; i < ARRAY_LEN(by_type); i++)
        keep_keys(tree_put(a, t, str_c(by_type[i])), types);
    return t;
}

/* ---- whose keys ---- */

uint32_t sky_env(enum sky_keys keys, const char **env)
{
    static const char *const usual[] = {"KARPENTER_PROVIDER", "aws",       "CLUSTER_NAME",      SKY_CLUSTER,
                                        "INTERRUPTION_QUEUE", SKY_CLUSTER, "CLUSTER_ENDPOINT",  SERVER,
                                        "CLUSTER_CA_BUNDLE",  "Y2E=",      "EKS_CONTROL_PLANE", "true",
                                        "AWS_ENDPOINT_URL",   ENDPOINT,    "AWS_REGION",        SKY_REGION};
    static const char *const own[SKY_N_KEYS][6] = {
        [SKY_IRSA] = {"AWS_WEB_IDENTITY_TOKEN_FILE", WEB_TOKEN, "AWS_ROLE_ARN", ROLE},
        [SKY_POD_IDENTITY] = {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials",
                              "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", POD_TOKEN},
        [SKY_IMDS] = {0},
        [SKY_FILES] = {"AWS_PROFILE", "karpenter", "AWS_CONFIG_FILE", "/sky/config", "AWS_SHARED_CREDENTIALS_FILE",
                       "/sky/credentials"},
    };
    uint32_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        env[n++] = usual[i];
    for (size_t i = 0; i < ARRAY_LEN(own[keys]) && own[keys][i]; i++)
        env[n++] = own[keys][i];
    assert(n < SKY_ENV);
    env[n] = NULL;
    return n;
}

/* As the kubelet writes it into the pod: signed by nobody, and good for an hour. */
static str token_text(struct arena *a, int64_t now_ms)
{
    int64_t from_s = now_ms / 1000 / (TOKEN_S * 4 / 5) * (TOKEN_S * 4 / 5);
    struct sb b = {0};

    b64url_encode(&b, STR("{\"alg\":\"RS256\"}"));
    sb_printf(&b, ".");
    b64url_encode(&b,
                  arena_printf(a,
                               "{\"iss\":\"https://oidc.test\",\"sub\":\"system:serviceaccount:kube-system:karpenter\","
                               "\"iat\":%lld,\"exp\":%lld}",
                               (long long)from_s, (long long)(from_s + TOKEN_S)));
    sb_printf(&b, ".signed-by-the-cluster");
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static bool read_file(void *ctx, struct arena *a, const char *path, str *ret, struct err *e)
{
    struct sky *s = ctx;

    if (strcmp(path, WEB_TOKEN) == 0 || strcmp(path, POD_TOKEN) == 0) {
        s->n_tokens++;
        *ret = token_text(a, world_now_ms(s->world));
    } else if (strcmp(path, "/sky/config") == 0) {
        *ret = STR("[profile karpenter]\nrole_arn = " ROLE "\nsource_profile = person\nduration_seconds = 3600\n");
    } else if (strcmp(path, "/sky/credentials") == 0) {
        *ret = STR("[person]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = " SKY_SECRET "\n");
    } else {
        return err_set(e, ERR_NOT_FOUND, "%s: No such file or directory", path);
    }
    return true;
}

static void serve_local(void *ctx, struct exchange *x)
{
    struct sky *s = ctx;

    s->n_local += str_is(x->path, "/v1/credentials") || str_ends(x->path, STR("/security-credentials/test-role"));
    sim_aws_serve_local(s->aws, x);
}

/* ---- what the account tells ---- */

static void on_running(void *ctx, const struct sim_machine *m)
{
    boot_running(((struct sky *)ctx)->boot, m);
}

static void on_gone(void *ctx, const struct sim_machine *m)
{
    boot_gone(((struct sky *)ctx)->boot, m);
}

static void on_call(void *ctx, const struct sim_aws_call *c)
{
    static const char *const refusals[] = {"AuthFailure",
                                           "ExpiredToken",
                                           "ExpiredTokenException",
                                           "InvalidClientTokenId",
                                           "InvalidSignatureException",
                                           "MissingAuthenticationToken",
                                           "MissingAuthenticationTokenException",
                                           "RequestExpired",
                                           "SignatureDoesNotMatch",
                                           "UnrecognizedClientException"};
    struct sky *s = ctx;

    if (s->heard)
        s->heard(s->heard_ctx, c);
    for (size_t i = 0; c->error.n && i < ARRAY_LEN(refusals); i++)
        if (str_is(c->error, refusals[i])) {
            s->n_refused++;
            (void)snprintf(s->last_refusal, sizeof(s->last_refusal), "%s %s", c->action, refusals[i]);
        }
}

struct sky *sky_new(struct rig *r, const struct sky_options *o)
{
    static const char *const local[] = {"http://169.254.169.254", "http://169.254.170.23"};
    struct sky *s = xcalloc(1, sizeof(*s));
    struct sim *sim = r->l->s->sim;
    struct err e = {0};

    s->r = r;
    s->keys = o->keys;
    s->a = arena_new(0);
    s->world = sim_process(sim, "aws");
    s->aws = sim_aws_new(&(struct sim_aws_options){.world = s->world,
                                                   .account = account_of(s->a, o->types ? o->types : usual_types),
                                                   .on_running = on_running,
                                                   .on_gone = on_gone,
                                                   .on_call = on_call,
                                                   .ctx = s,
                                                   .boot_ms = o->boot_ms,
                                                   .stop_ms = o->stop_ms},
                         &e);
    check_ok("the account", s->aws != NULL, &e);
    sim_mount(sim, ENDPOINT, s->world, sim_aws_serve, s->aws);
    for (size_t i = 0; i < ARRAY_LEN(local); i++)
        sim_mount(sim, local[i], s->world, serve_local, s);
    s->boot = boot_new(&(struct boot_options){.world = s->world,
                                              .cluster = r->l->c,
                                              .agent = o->agent,
                                              .cluster_name = STR(SKY_CLUSTER),
                                              .endpoint = STR("https://" SKY_CLUSTER)});
    r->files = (struct replica_files){s, read_file};
    return s;
}

void sky_free(struct sky *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < RIG_REPLICAS; i++)
        rig_kill(s->r, i);
    sim_aws_free(s->aws);
    boot_free(s->boot);
    arena_free(s->a);
    free(s);
}

/* ---- what is there ---- */

static void note_claim(void *ctx, const struct object *o)
{
    struct sky_owners *w = ctx;
    str id = tree_str(tree_get(kube_part(w->a, o, "status"), "providerID")), rest = id, head;

    while (str_cut(rest, '/', &head, &rest))
        ;
    if (head.n)
        strmap_put(&w->by_instance, head, o->deleted_ms != 0);
}

void sky_owners_init(struct sky_owners *w, struct sky *s)
{
    struct server *server = s->r->l->s;

    *w = (struct sky_owners){.a = arena_new(0)};
    kube_each(server->k, server_kind(server, "nodeclaims"), (str){0}, note_claim, w);
}

void sky_owners_fini(struct sky_owners *w)
{
    strmap_fini(&w->by_instance);
    arena_free(w->a);
}

bool sky_owned(const struct sky_owners *w, str instance)
{
    return strmap_get(&w->by_instance, instance) != MAP_NONE;
}

struct stock_taking {
    struct sky_owners owners;
    struct sky_stock *ret;
};

static void count_resource(void *ctx, const struct sim_aws_resource *r)
{
    struct stock_taking *t = ctx;

    if (strcmp(r->kind, "instance") == 0 && (strcmp(r->state, "pending") == 0 || strcmp(r->state, "running") == 0)) {
        t->ret->n_machines++;
        t->ret->n_unowned += !sky_owned(&t->owners, r->id);
    }
    t->ret->n_templates += strcmp(r->kind, "launch-template") == 0;
    t->ret->n_profiles += strcmp(r->kind, "instance-profile") == 0 && !r->given;
}

void sky_look(struct sky *s, struct sky_stock *ret)
{
    struct stock_taking t = {.ret = ret};

    *ret = (struct sky_stock){0};
    sky_owners_init(&t.owners, s);
    sim_aws_each(s->aws, count_resource, &t);
    sky_owners_fini(&t.owners);
}
