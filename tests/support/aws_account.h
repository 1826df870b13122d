/* aws_account - a small AWS account in a simulated world, and requests to it.
 *
 * Three zones with a subnet each, two instance types, two images, a reservation, a spread placement group, a queue. account_ask() moves the virtual clock until the
 * answer is there. Signatures are not asked for unless the options of the account say so.
 */
#pragma once

#include "base/vec.h"
#include "sim/aws/aws.h"
#include "sim/world.h"

#define ACCOUNT_URL "https://aws"
#define ACCOUNT_START_MS 1768478400000LL /* 2026-01-15T12:00:00Z */

struct aws_account {
    struct sim *sim;
    struct world *far, *near; /* the account's, the client's */
    struct sim_aws *aws;
    struct arena *a;
};

/* members: JSON text of members that go over the account's own, "{\"faults\":{…}}"; NULL: none. o: may be NULL; world and account are filled in. */
void account_open(struct aws_account *t, uint64_t seed, const char *members, const struct sim_aws_options *o);
void account_close(struct aws_account *t);
void account_run(struct aws_account *t, int64_t ms);
/* The account's tree, for those who load it themselves. */
struct tree *account_tree(struct arena *a, const char *members);

struct aws_reply {
    int status; /* 0: it broke off */
    str body;
    struct tree *tree; /* of XML and JSON alike; NULL: neither */
    str code, message; /* of an error */
};

/* what: "ec2", "iam", "sts" with query parameters ("Action=…&…", Version is added), or a target ("AmazonSQS.SendMessage") with a JSON text, or "GET /path". */
struct aws_reply account_ask(struct aws_account *t, const char *what, const char *body);
/* The same, which has to be done. */
const struct tree *account_do(struct aws_account *t, const char *what, const char *body);
/* Text for them; lives until account_close(). */
PRINTF(2, 3) const char *account_line(struct aws_account *t, const char *fmt, ...);
