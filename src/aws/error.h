/* error - what AWS's error codes mean for us: kinds, retries, clocks. */
#pragma once

#include "aws/aws.h"

enum err_kind error_kind(str code, int status);
bool error_is_transient(str code, int status); /* worth another try later */
bool error_is_skew(str code);                  /* our clock may be wrong */
bool error_is_expired(str code);               /* the credentials are no longer good */
bool error_is_unknown_key(str code);           /* AWS does not know the key, or does not know it any more */
