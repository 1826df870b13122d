/* images - which images machines start from: what an alias stands for, which of those found are the best, which one is for a type (aws 6.3, 6.4). Pure: who asks
 * SSM and EC2 is elsewhere. */
#pragma once

#include "cloud/ec2/class.h"
#include "model/itype.h"

/* What an image is made for; bits. An image with several of them counts as several. */
enum ec2_variant { EC2_VARIANT_STANDARD = 1, EC2_VARIANT_NVIDIA = 2, EC2_VARIANT_NEURON = 4 };

struct ec2_parameter { /* of SSM: its value is the id of an image */
    str name;
    uint32_t variants; /* of that image; 0: no requirements but the family's */
    bool changes;      /* it names the newest image; else always the same */
};

/* err.code of an alias that the cluster's version does not have. */
#define EC2_UNSUPPORTED_ALIAS "UnsupportedAlias"

/* What an alias "al2023@v20240807" stands for on Kubernetes "1.32". ERR_INVALID: there is no such alias, or not for this version. */
bool ec2_alias_parameters(struct arena *a, str alias, str kubernetes, struct ec2_parameter **ret, uint32_t *ret_n,
                          struct err *e);
/* "al2023@v20240807" → AL2023, "v20240807". */
bool ec2_alias_parse(str alias, enum ec2_family *ret_family, str *ret_version);

struct ec2_candidate { /* an image that was found */
    struct ec2_image image;
    uint32_t variants;         /* of the alias; 0: none */
    const char *windows_build; /* of the alias' family; NULL: not Windows, or no alias */
};

/* The status of a class: of those that are for the same machines the best, the newest first. Images for other processors are left out. */
uint32_t ec2_choose_amis(struct arena *a, struct syms *t, const struct ec2_candidate *v, uint32_t n, int64_t now_ms,
                         struct ec2_class_ami **ret);

/* The first image of the class that the type fits; NULL: none. */
const struct ec2_class_ami *ec2_ami_for(const struct ec2_class *k, const struct itype *type);
