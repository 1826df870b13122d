/* mhd - libmicrohttpd, as a table of the functions that we use of it.
 *
 * The system's libmicrohttpd brings GnuTLS, which takes two megabytes of a process that only serves metrics in the clear. Where tools/setup
 * has built one without TLS it is part of the program, and the system's is loaded when somebody wants to serve TLS, as the demo does.
 * Elsewhere both tables are the system's.
 */
#pragma once

#include <microhttpd.h>

#include "base/err.h"

#define MHD_FUNCTIONS(DO)                                                                                              \
    DO(add_response_header)                                                                                            \
    DO(create_response_from_buffer)                                                                                    \
    DO(create_response_from_callback)                                                                                  \
    DO(destroy_response)                                                                                               \
    DO(get_connection_info)                                                                                            \
    DO(get_connection_values_n)                                                                                        \
    DO(get_daemon_info)                                                                                                \
    DO(get_timeout)                                                                                                    \
    DO(queue_response)                                                                                                 \
    DO(resume_connection)                                                                                              \
    DO(run)                                                                                                            \
    DO(set_connection_option)                                                                                          \
    DO(start_daemon)                                                                                                   \
    DO(stop_daemon)                                                                                                    \
    DO(suspend_connection)

struct mhd {
#define MHD_MEMBER(name) __typeof__(MHD_##name) *name;
    MHD_FUNCTIONS(MHD_MEMBER)
#undef MHD_MEMBER
};

/* NULL: it cannot be loaded. */
const struct mhd *mhd_get(bool with_tls, struct err *e);
