/* Runs files through a fuzz target without libFuzzer: every file named, every file in every directory named, in
 * byte order. This is how corpora become ordinary tests. Prints TAP, one line a file; the name comes before the
 * run, so that a crash says which input it was. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/vec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned n_run, n_failed;

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    VEC(uint8_t) bytes = {0};
    uint8_t buf[65536];
    size_t n;

    printf("# %s\n", path);
    (void)fflush(stdout);
    n_run++;
    if (!f) {
        n_failed++;
        printf("not ok %u - %s: %s\n", n_run, path, strerror(errno));
        return;
    }
    do {
        n = fread(buf, 1, sizeof(buf), f);
        vec_reserve(&bytes, bytes.n + n);
        if (n)
            memcpy(bytes.v + bytes.n, buf, n);
        bytes.n += (uint32_t)n;
    } while (n == sizeof(buf));
    (void)fclose(f);

    /* An exact-size copy: a read past the end of the input is then a read past the end of a heap block. */
    uint8_t *exact = xmalloc(bytes.n);
    if (bytes.n)
        memcpy(exact, bytes.v, bytes.n);
    (void)LLVMFuzzerTestOneInput(exact, bytes.n);
    free(exact);
    vec_fini(&bytes);
    printf("ok %u - %s\n", n_run, path);
}

static int not_hidden(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static void replay(const char *path)
{
    struct dirent **names;
    struct stat st;
    int n;

    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        replay_file(path);
        return;
    }
    n = scandir(path, &names, not_hidden, alphasort);
    for (int i = 0; i < n; i++) {
        size_t size = strlen(path) + strlen(names[i]->d_name) + 2;
        char *child = xmalloc(size);

        (void)snprintf(child, size, "%s/%s", path, names[i]->d_name);
        replay(child);
        free(child);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("1..%u\n", n_run);
    if (n_run == 0)
        (void)fprintf(stderr, "usage: %s FILE|DIRECTORY...: nothing was run\n", argv[0]);
    return n_run == 0 || n_failed > 0;
}
