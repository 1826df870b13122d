#include "control/protection.h"

#include "model/duration.h"
#include "model/evict.h"

static void publish(struct recorder *r, const struct syms *t, const struct pod *p, const struct event *e, str detail)
{
    struct event ev = *e;
    str uid = UID_STR(p->uid), dedupe[] = {uid, detail};

    ev.object = (struct event_object){.kind = &api_pods, .ns = sym_str(t, p->ns), .name = p->name, .uid = uid};
    ev.dedupe = dedupe;
    ev.n_dedupe = detail.n ? 2 : 1;
    recorder_publish(r, &ev);
}

/* What is wrong with the value; empty: nothing. */
static str complaint(struct arena *a, str value)
{
    struct sb b = {0};
    struct err e;
    int64_t ns;

    if (!duration_parse(value, &ns, &e)) {
        sb_printf(&b, "failed to parse \"" STR_FMT "\" as a duration: ", STR_ARG(value));
        duration_go_error(&b, value);
    } else if (ns <= 0) {
        sb_printf(&b, "duration \"" STR_FMT "\" must be positive", STR_ARG(value));
    }
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static str rfc3339(struct arena *a, int64_t ms)
{
    struct sb b = {0};

    time_print_rfc3339(&b, ms);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

void protection_say(struct recorder *r, struct arena *a, const struct syms *t, const struct pod *p, int64_t now_ms)
{
    if (p->do_not_disrupt.n == 0 || str_is(p->do_not_disrupt, "true"))
        return;
    str wrong = complaint(a, p->do_not_disrupt);

    if (wrong.n) {
        publish(r, t, p,
                &(struct event){
                    .warning = true,
                    .reason = "InvalidDoNotDisruptAnnotation",
                    .message = arena_printf(
                        a, "Invalid karpenter.sh/do-not-disrupt annotation: " STR_FMT ", ignoring annotation",
                        STR_ARG(wrong)),
                },
                wrong);
    } else if (p->started_ms == INT64_MIN) {
        return;
    } else if (pod_is_protected(p, now_ms)) {
        str until = rfc3339(a, pod_protected_until(p));

        publish(r, t, p,
                &(struct event){
                    .reason = "DoNotDisruptUntil",
                    .message = arena_printf(a, "The karpenter.sh/do-not-disrupt grace period will elapse at " STR_FMT,
                                            STR_ARG(until)),
                },
                until);
    } else {
        publish(r, t, p,
                &(struct event){
                    .reason = "DoNotDisruptGracePeriodElapsed",
                    .message = STR("The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable"),
                },
                (str){0});
    }
}
