/* Scripts: bootstrap.sh on Amazon Linux 2, Start-EKSBootstrap.ps1 on Windows. The call that joins is found; what else a script does is not played. */
#include <strings.h>

#include "sim/boot/told.h"
#include "sim/boot/words.h"

static bool is_bootstrap(str word)
{
    return str_is(word, "bootstrap.sh") || str_ends(word, STR("/bootstrap.sh"));
}

static void take_option(struct told *t, str name, str value, str *flags)
{
    if (str_is(name, "--apiserver-endpoint"))
        t->endpoint = value;
    else if (str_is(name, "--kubelet-extra-args"))
        *flags = value;
    else if (str_is(name, "--use-max-pods"))
        t->by_interfaces = !str_is(value, "false");
    else if (str_is(name, "--local-disks"))
        t->local_disks = str_is(value, "raid0") || str_is(value, "raid10");
}

/* Every option has a value; the one word without is the cluster. Of two calls the second one counts. */
bool told_shell(struct arena *a, str script, struct told *t, struct err *e)
{
    struct words w = {.a = a, .rest = script, .escape = '\\'};
    bool first, in_call = false;
    str word, name = {0}, flags = {0};

    while (words_next(&w, &word, &first)) {
        in_call = in_call && !first;
        if (!in_call && is_bootstrap(word)) {
            in_call = t->by_interfaces = true;
            t->local_disks = false;
            t->cluster = t->endpoint = name = flags = (str){0};
        } else if (in_call && name.n) {
            take_option(t, name, word, &flags);
            name = (str){0};
        } else if (in_call && str_starts(word, STR("--"))) {
            name = word;
        } else if (in_call) {
            t->cluster = word;
        }
    }
    if (w.unclosed)
        return err_set(e, ERR_INVALID, "the script ends inside of quotes");
    return told_flags(a, t, flags, e);
}

static bool is_word(str s, const char *word)
{
    return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

bool told_powershell(struct arena *a, str script, struct told *t, struct err *e)
{
    struct words w = {.a = a, .rest = script, .escape = '`'};
    str word, name = {0}, flags = {0};
    bool first;

    t->windows = t->reserve_by_pods = true;
    t->disk = STR("/dev/sda1");
    while (words_next(&w, &word, &first)) {
        if (is_word(name, "-EKSClusterName"))
            t->cluster = word;
        else if (is_word(name, "-APIServerEndpoint"))
            t->endpoint = word;
        else if (is_word(name, "-KubeletExtraArgs"))
            flags = word;
        name = word;
    }
    if (w.unclosed)
        return err_set(e, ERR_INVALID, "the script ends inside of quotes");
    return told_flags(a, t, flags, e);
}
