/* context - where a stack left off, and how to go on there. A few instructions; only fiber.c uses it. */
#pragma once

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__) /* then context_switch.S is empty */
#define CONTEXT_LIBC 1
#include <ucontext.h>
#endif

struct context {
#ifdef CONTEXT_LIBC
    ucontext_t uc;
#else
    void *sp; /* what has to survive a call lies above it */
#endif
};

/* `entry` will run on the stack and must not return. */
void context_make(struct context *c, void *stack, size_t size, void (*entry)(void));
/* Comes back when somebody switches to `from`. */
void context_switch(struct context *from, struct context *to);
