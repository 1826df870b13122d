/* What context_switch.S needs to find on a fresh stack. libc's swapcontext() makes a system call for the signal mask every
 * time, which we never change; it serves machines for which nobody has written the few instructions yet. The control words
 * for floating point, which a callee has to keep as well, are the same everywhere in this program.
 */
#include "net/context.h"

#include "base/base.h"

#if defined(CONTEXT_LIBC)

void context_make(struct context *c, void *stack, size_t size, void (*entry)(void))
{
    (void)getcontext(&c->uc);
    c->uc.uc_stack.ss_sp = stack;
    c->uc.uc_stack.ss_size = size;
    c->uc.uc_link = NULL;
    makecontext(&c->uc, entry, 0);
}

void context_switch(struct context *from, struct context *to)
{
    (void)swapcontext(&from->uc, &to->uc);
}

#else

#if defined(__x86_64__)
/* Six registers, where `ret` goes, and a null return address that ends back traces: at a function's first instruction the
 * stack is 8 bytes off a multiple of 16. */
enum { WORDS = 8, RETURN_TO = 6 };
#elif defined(__aarch64__)
enum { WORDS = 20, RETURN_TO = 11 }; /* x30 */
#endif

void context_make(struct context *c, void *stack, size_t size, void (*entry)(void))
{
    uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
    uintptr_t *sp = (uintptr_t *)top - WORDS;

    for (int i = 0; i < WORDS; i++)
        sp[i] = 0;
    sp[RETURN_TO] = (uintptr_t)entry;
    c->sp = sp;
}

#endif
