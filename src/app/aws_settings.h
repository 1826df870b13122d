/* aws_settings - settings of the AWS provider by their environment names, for the commands of aws_vectors.h. */
#pragma once

#include "cloud/ec2/provider.h"

struct ec2_settings aws_settings_default(void);
/* Settings about other things are passed over; ERR_INVALID: a value that makes no sense. Texts are copied. */
bool aws_settings_put(struct ec2_settings *s, struct arena *a, const char *key_value, struct err *e);
