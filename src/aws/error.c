#include "aws/error.h"

/* Sets of codes end with NULL. */

static bool is_one_of(str code, const char *const *set)
{
    for (; *set; set++)
        if (str_is(code, *set))
            return true;
    return false;
}

bool aws_is_not_found(str code)
{
    static const char *const set[] = {"InvalidCapacityReservationId.NotFound",
                                      "InvalidInstanceID.NotFound",
                                      "InvalidLaunchTemplateName.NotFoundException",
                                      "InvalidLaunchTemplateId.NotFound",
                                      "QueueDoesNotExist",
                                      "AWS.SimpleQueueService.NonExistentQueue",
                                      "NoSuchEntity",
                                      "ParameterNotFound",
                                      NULL};

    return is_one_of(code, set);
}

bool aws_is_unfulfillable(str code)
{
    static const char *const set[] = {"InsufficientInstanceCapacity",
                                      "MaxSpotInstanceCountExceeded",
                                      "VcpuLimitExceeded",
                                      "UnfulfillableCapacity",
                                      "Unsupported",
                                      "InsufficientFreeAddressesInSubnet",
                                      "MaxFleetCountExceeded",
                                      "ReservationCapacityExceeded",
                                      NULL};

    return is_one_of(code, set);
}

bool aws_is_throttle(str code)
{
    static const char *const set[] = {"Throttling",
                                      "ThrottlingException",
                                      "ThrottledException",
                                      "RequestThrottled",
                                      "RequestThrottledException",
                                      "RequestLimitExceeded",
                                      "TooManyRequestsException",
                                      "ProvisionedThroughputExceededException",
                                      "TransactionInProgressException",
                                      "BandwidthLimitExceeded",
                                      "LimitExceededException",
                                      "SlowDown",
                                      "PriorRequestNotComplete",
                                      "EC2ThrottledException",
                                      NULL};

    return is_one_of(code, set);
}

bool aws_is_server_fault(const struct aws_answer *r)
{
    return r->status >= 500;
}

static bool is_timeout(str code)
{
    return str_is(code, "RequestTimeout") || str_is(code, "RequestTimeoutException");
}

bool error_is_transient(str code, int status)
{
    /* STS says these when it cannot reach, or does not know yet, who has signed a web identity. */
    bool identity = str_is(code, "IDPCommunicationError") || str_is(code, "InvalidIdentityToken");

    return aws_is_throttle(code) || is_timeout(code) || identity || status == 429 || status == 500 || status == 502 ||
           status == 503 || status == 504;
}

bool error_is_skew(str code)
{
    static const char *const set[] = {"RequestTimeTooSkewed",
                                      "RequestExpired",
                                      "RequestInTheFuture",
                                      "AuthFailure",
                                      "SignatureDoesNotMatch",
                                      "InvalidSignatureException",
                                      "InvalidSignature",
                                      "IncompleteSignatureException",
                                      NULL};

    return is_one_of(code, set);
}

bool error_is_expired(str code)
{
    /* EC2 says the last of keys that are over, and of clocks that are wrong, which is looked at first. */
    return str_is(code, "ExpiredToken") || str_is(code, "ExpiredTokenException") || str_is(code, "RequestExpired");
}

bool error_is_unknown_key(str code)
{
    /* EC2 has the first one for everything that is wrong with a signature. */
    return str_is(code, "AuthFailure") || str_is(code, "InvalidClientTokenId") || str_is(code, "InvalidAccessKeyId") ||
           str_is(code, "UnrecognizedClientException");
}

static bool is_denied(str code, int status)
{
    static const char *const set[] = {"UnauthorizedOperation",
                                      "AccessDenied",
                                      "AccessDeniedException",
                                      "UnrecognizedClientException",
                                      "InvalidClientTokenId",
                                      "MissingAuthenticationToken",
                                      "MissingAuthenticationTokenException",
                                      "OptInRequired",
                                      "NotAuthorized",
                                      "NotAuthorizedException",
                                      NULL};

    return is_one_of(code, set) || error_is_skew(code) || error_is_expired(code) ||
           str_starts(code, STR("AuthFailure.")) || status == 401 || status == 403;
}

static bool is_conflict(str code)
{
    static const char *const set[] = {
        "EntityAlreadyExists", "DeleteConflict",         "ConcurrentModification",      "IncorrectState",
        "ConflictException",   "ResourceInUseException", "IdempotentParameterMismatch", NULL};

    return is_one_of(code, set) || str_ends(code, STR(".AlreadyExistsException")) ||
           str_ends(code, STR(".Duplicate")) || str_ends(code, STR(".InUse"));
}

enum err_kind error_kind(str code, int status)
{
    if (aws_is_throttle(code) || status == 429)
        return ERR_THROTTLED;
    if (aws_is_not_found(code) || str_ends(code, STR("NotFound")) || str_ends(code, STR("NotFoundException")))
        return ERR_NOT_FOUND;
    if (is_conflict(code))
        return ERR_CONFLICT;
    if (aws_is_unfulfillable(code))
        return ERR_CAPACITY;
    if (is_timeout(code) || status == 408 || status == 504)
        return ERR_TIMEOUT;
    if (is_denied(code, status))
        return ERR_DENIED;
    return status >= 500 || status < 400 ? ERR_IO : ERR_INVALID;
}
