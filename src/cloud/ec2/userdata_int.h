/* userdata_int - the forms of user data. Private to userdata*.c. */
#pragma once

#include "base/sb.h"
#include "cloud/ec2/userdata.h"

#define MIME_SHELL "text/x-shellscript; charset=\"us-ascii\""
#define MIME_NODE_CONFIG "application/node.eks.aws"

struct mime_part {
    const struct ec2_kv *headers; /* by name, in canonical form: Content-Type */
    uint32_t n;
    str content;
};

struct mime_parts {
    struct mime_part *v;
    uint32_t n;
};

bool mime_is(str text); /* it looks like one: there is a header at its beginning */
/* ERR_INVALID: it is no multipart message, or has no end. */
bool mime_read(struct arena *a, str text, struct mime_parts *ret, struct err *e);
struct mime_part mime_part(struct arena *a, const char *content_type, str content);
/* The whole message, without carriage returns. */
void mime_write(struct sb *out, const struct mime_part *v, uint32_t n);

/* What the kubelet is given: the class's settings with what is worked out for the machine in their place. */
struct ec2_kvs boot_kube_reserved(struct arena *a, const struct ec2_class *k, const struct ec2_boot *b);
struct ec2_kvs boot_system_reserved(struct arena *a, const struct ec2_class *k, const struct ec2_boot *b);
int64_t boot_max_pods(const struct ec2_class *k, const struct ec2_boot *b);
/* Durations as Go prints them: "1m" is "1m0s". */
struct ec2_kvs boot_soft_grace(struct arena *a, const struct ec2_class *k);
void boot_labels(struct sb *out, const struct ec2_boot *b); /* --node-labels="k=v,…" */
/* Flags of a kubelet, joined by spaces (aws 6.6). */
void boot_flags(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b);

bool userdata_nodeadm(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b,
                      struct err *e);
bool userdata_toml(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b, struct err *e);
void userdata_windows(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b);
