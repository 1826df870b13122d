/* A fiber that has returned keeps its stack and waits in a pool: its outermost function is an endless loop that takes the
 * next job. Switches go from the loop to a fiber and back, never from fiber to fiber, and only from the event that says
 * the fiber is ready. So every run of a fiber is one event of the world, in the order of all events.
 */
#include "net/fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "net/context.h"
#include "net/world_int.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define WITH_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define WITH_TSAN 1
#endif

#ifdef WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#define STACK_SIZE (FIBER_STACK * 4) /* its frames are larger */
#else
#define STACK_SIZE FIBER_STACK
#endif

#ifdef WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#define GUARD 4096u
#define MAX_IDLE 256u
#define MAX_UNWIND 10000000u /* events; whoever needs more than that ignores world_dead() */

enum fiber_state {
    FIBER_READY,   /* its event is in the heap */
    FIBER_RUNNING, /* on its stack now */
    FIBER_PARKED,  /* until fiber_wake() */
    FIBER_BLOCKED, /* until fiber_unblock() */
};

struct fiber {
    struct world *w;
    const char *name;
    void (*fn)(void *arg);
    void *arg;
    struct fiber *prev, *next;
    enum fiber_state state;
    bool woken;    /* a wake came first */
    bool sleeping; /* blocked by fiber_sleep_us() */
    struct timer ready, alarm;
    struct context ctx;
    char *map;        /* guard page, then the stack */
    void *fake_stack; /* AddressSanitizer's */
    void *twin;       /* ThreadSanitizer's */
    unsigned valgrind_id;
};

/* The stack of the loop, while a fiber runs. */
static _Thread_local struct {
    struct fiber *current;
    struct context ctx;
    void *fake_stack, *twin;
    const void *bottom;
    size_t size;
} home;

struct fiber *fiber_self(void)
{
    return home.current;
}

const char *fiber_name(void)
{
    return home.current ? home.current->name : "";
}

/* The sanitizers have to know on which stack we are. */
static void leaving(UNUSED void **fake, UNUSED const void *bottom, UNUSED size_t size, UNUSED void *twin)
{
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(fake, bottom, size);
#endif
#ifdef WITH_TSAN
    __tsan_switch_to_fiber(twin, 0);
#endif
}

static void arrived(UNUSED void *fake, UNUSED const void **ret_bottom, UNUSED size_t *ret_size)
{
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(fake, ret_bottom, ret_size);
#endif
}

static void leave(struct fiber *f)
{
    leaving(&f->fake_stack, home.bottom, home.size, home.twin);
    context_switch(&f->ctx, &home.ctx);
    arrived(f->fake_stack, &home.bottom, &home.size);
}

static void fiber_main(void)
{
    struct fiber *f = home.current;

    arrived(f->fake_stack, &home.bottom, &home.size);
    for (;;) {
        f->fn(f->arg);
        f->fn = NULL;
        leave(f);
    }
}

static void fiber_unmap(struct fiber *f)
{
#ifdef VALGRIND_STACK_DEREGISTER
    VALGRIND_STACK_DEREGISTER(f->valgrind_id);
#endif
#ifdef WITH_TSAN
    __tsan_destroy_fiber(f->twin);
#endif
    (void)munmap(f->map, GUARD + STACK_SIZE);
    free(f);
}

static struct fiber *fiber_map(void)
{
    struct fiber *f = xcalloc(1, sizeof(*f));

    f->map = mmap(NULL, GUARD + STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (f->map == MAP_FAILED || mprotect(f->map, GUARD, PROT_NONE) != 0) {
        (void)fprintf(stderr, "karpenter: no memory for the stack of a fiber\n");
        abort();
    }
#ifdef VALGRIND_STACK_REGISTER
    f->valgrind_id = (unsigned)VALGRIND_STACK_REGISTER(f->map + GUARD, f->map + GUARD + STACK_SIZE);
#endif
#ifdef WITH_TSAN
    f->twin = __tsan_create_fiber(0);
#endif
    context_make(&f->ctx, f->map + GUARD, STACK_SIZE, fiber_main);
    return f;
}

static void fiber_recycle(struct fiber *f)
{
    struct world *w = f->w;

    *(f->prev ? &f->prev->next : &w->fibers) = f->next;
    if (f->next)
        f->next->prev = f->prev;
    w->n_fibers--;
    if (w->core->n_idle_fibers >= MAX_IDLE) {
        fiber_unmap(f);
        return;
    }
    f->next = w->core->idle_fibers;
    w->core->idle_fibers = f;
    w->core->n_idle_fibers++;
}

static void fiber_run(void *arg)
{
    struct fiber *f = arg;

    assert(!home.current);
    home.current = f;
    f->state = FIBER_RUNNING;
#ifdef WITH_TSAN
    home.twin = __tsan_get_current_fiber();
#endif
    leaving(&home.fake_stack, f->map + GUARD, STACK_SIZE, f->twin);
    context_switch(&home.ctx, &f->ctx);
    arrived(home.fake_stack, NULL, NULL);
    home.current = NULL;
    if (!f->fn)
        fiber_recycle(f);
}

static void make_ready(struct fiber *f)
{
    f->state = FIBER_READY;
    world_soon(f->w, &f->ready);
}

static void alarm_rings(void *arg)
{
    fiber_unblock(arg);
}

void fiber_go(struct world *w, const char *name, void (*fn)(void *arg), void *arg)
{
    struct fiber *f = w->core->idle_fibers;

    if (f) {
        w->core->idle_fibers = f->next;
        w->core->n_idle_fibers--;
    } else {
        f = fiber_map();
        f->ready = (struct timer){.fn = fiber_run, .ctx = f};
        f->alarm = (struct timer){.fn = alarm_rings, .ctx = f};
    }
    f->w = w;
    f->name = name;
    f->fn = fn;
    f->arg = arg;
    f->woken = f->sleeping = false;
    f->prev = NULL;
    f->next = w->fibers;
    if (f->next)
        f->next->prev = f;
    w->fibers = f;
    w->n_fibers++;
    make_ready(f);
}

/* In a dead world everybody gets a turn and goes on: nothing is left to wait for. */
static void yield(struct fiber *f)
{
    make_ready(f);
    leave(f);
}

void fiber_park(void)
{
    struct fiber *f = home.current;

    assert(f);
    if (f->woken) {
        f->woken = false;
        return;
    }
    if (f->w->dead) {
        yield(f);
        return;
    }
    f->state = FIBER_PARKED;
    leave(f);
}

void fiber_wake(struct fiber *f)
{
    if (f->state == FIBER_PARKED)
        make_ready(f);
    else
        f->woken = true;
}

void fiber_block(void)
{
    struct fiber *f = home.current;

    assert(f);
    f->state = FIBER_BLOCKED;
    leave(f);
}

void fiber_unblock(struct fiber *f)
{
    assert(f->state == FIBER_BLOCKED);
    make_ready(f);
}

void fiber_sleep_us(struct world *w, int64_t us)
{
    struct fiber *f = home.current;

    assert(f && f->w == w);
    if (w->dead) {
        yield(f);
        return;
    }
    timer_set(w, &f->alarm, us);
    f->sleeping = true;
    fiber_block();
    f->sleeping = false;
}

uint32_t fiber_count(const struct world *w)
{
    return w->n_fibers;
}

/* Oldest first, so that they wake in the order in which they were started. Fibers that wait for a call wake by its end.
 * The alarms are gone already. */
void fibers_die(struct world *w)
{
    struct fiber *f = w->fibers;

    while (f && f->next)
        f = f->next;
    for (; f; f = f->prev)
        if (f->state == FIBER_PARKED || (f->state == FIBER_BLOCKED && f->sleeping))
            make_ready(f);
}

void fibers_unwinding(const struct world *w, uint32_t n_events)
{
    if (n_events < MAX_UNWIND)
        return;
    (void)fprintf(stderr, "karpenter: fiber \"%s\" does not end with its world\n", w->fibers ? w->fibers->name : "");
    abort();
}

void fiber_pool_fini(struct world_core *core)
{
    while (core->idle_fibers) {
        struct fiber *f = core->idle_fibers;

        core->idle_fibers = f->next;
        fiber_unmap(f);
    }
    core->n_idle_fibers = 0;
}
