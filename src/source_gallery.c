/* Matrices by name: gallery:NAME[,key=value...].
 *
 * The spec is looked up in two tables, gallery_formulas and gallery_spectra.
 * Every entry also takes n= and seed=, which go before the arguments of the
 * same name.  A matrix is a function of (i, j, n, seed) and its options, so
 * every rank makes the columns it owns; it is symmetric bit for bit because
 * only i <= j is ever computed. */
#include "gallery.h"
#include "source.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "toeplitz,a=2,b=-1  tridiagonal: a, b beside the diagonal\n"
    "min  min(i,j)\n"
    "frank  (n+1-max(i,j))/n\n"
    "clement  sqrt(i (n-i)) beside a zero diagonal\n"
    "pei,alpha=1  alpha I + ones\n"
    "laplace2d,p=16,q=16  5-point Laplacian on a p x q grid, n = p q\n"
    "circulant,c=2/-1  c_((i-j) mod n) with c_(n-m) = c_m, zero beyond c\n"
    "dst  sqrt(2/(n+1)) sin(i j pi/(n+1)): discrete sine transform\n"
    "hadamard  (-1)^popcount(i & j) from i = j = 0, n a power of 2\n"
    "rosser  Rosser's matrix, n = 8\n"
    "wilkinson  |i-(n+1)/2| on the diagonal, 1 beside it\n"
    "glued,glue=1e-8  Wilkinson's of order 21, n/21 times, glue between\n"
    "spectrum,kind=geometric,cond=1e12,scale=1  d_i [i=j] - "
    "(2/n)(d_i+d_j) + (4/n) mean(d), eigenvalues d; kind: arithmetic, "
    "geometric, clustered-one, clustered-eps, random-sign, deficient "
    "(rank=n/2), equal, pm1\n"
    "type,k=9  k = 1..22: the types of ScaLAPACK's eigenvalue tests\n"
    "gaussian  N(0,1), on the diagonal N(0,2)\n"
    "graded,from=0,to=-30,permute=0,noise=0.1  D B D, D = 10^(from..to), "
    "B = 1 on the diagonal, beside it noise/n times uniform in (-1,1); "
    "permute=1: D shuffled\n";

const char *gallery_help(void)
{
    return help;
}

/* ---- Finding the entry ---- */

static const struct gallery_entry *find_in(const struct gallery_entry *table,
                                           const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

/* Append "word, " to a list of at most `size` characters. */
static void append(char *list, size_t size, const char *word)
{
    size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length ? ", " : "", word);
}

static const struct gallery_entry *find_entry(const char *name,
                                              struct failure *f)
{
    char list[PEIGH_MESSAGE_MAX] = "";
    const struct gallery_entry *e = find_in(gallery_formulas, name);
    if (e == NULL)
        e = find_in(gallery_spectra, name);
    if (e != NULL)
        return e;
    for (e = gallery_formulas; e->name; e++)
        append(list, sizeof list, e->name);
    for (e = gallery_spectra; e->name; e++)
        append(list, sizeof list, e->name);
    fail(f, PEIGH_ERR_ARGUMENT, "gallery: no matrix '%.40s' (there are %s)",
         name, list);
    return NULL;
}

/* ---- Reading the options ---- */

static peigh_status bad_value(const struct gallery *g, const char *key,
                              const char *value, const char *wanted,
                              struct failure *f)
{
    return fail(f, PEIGH_ERR_ARGUMENT, "gallery:%s: %s='%.40s' is not %s",
                g->entry->name, key, value, wanted);
}

/* A finite number that ends at `stop`. */
static bool read_number(const char *text, char stop, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end > text && *end == stop && isfinite(*value) &&
           !isspace((unsigned char)*text);
}

static peigh_status read_unsigned(const struct gallery *g, const char *key,
                                  const char *text, uint64_t most,
                                  uint64_t *value, struct failure *f)
{
    char *end, wanted[60];
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (isdigit((unsigned char)*text) && *end == 0 && errno == 0 && v <= most) {
        *value = v;
        return PEIGH_OK;
    }
    snprintf(wanted, sizeof wanted, "an integer in 0 .. %llu",
             (unsigned long long)most);
    return bad_value(g, key, text, wanted, f);
}

/* c0/c1/... */
static peigh_status read_list(struct gallery *g, const char *key,
                              const char *text, struct failure *f)
{
    size_t most = 1 + strlen(text) / 2;
    free(g->list);
    g->list_length = 0;
    g->list = malloc(most * sizeof *g->list);
    if (g->list == NULL)
        return fail(f, PEIGH_ERR_MEMORY, "gallery:%s: no memory for %zu bytes",
                    g->entry->name, most * sizeof *g->list);
    for (const char *at = text; at != NULL;) {
        double *value = &g->list[g->list_length++];
        const char *slash = strchr(at, '/');
        if (!read_number(at, slash ? '/' : 0, value))
            return bad_value(g, key, text, "numbers with slashes between", f);
        at = slash ? slash + 1 : NULL;
    }
    return PEIGH_OK;
}

static peigh_status read_word(struct gallery *g, int k, const char *text,
                              struct failure *f)
{
    char wanted[PEIGH_MESSAGE_MAX] = "";
    const struct gallery_key *key = &g->entry->keys[k];
    for (int word = 0; key->words[word]; word++) {
        if (strcmp(key->words[word], text) == 0) {
            g->option[k] = word;
            return PEIGH_OK;
        }
        append(wanted, sizeof wanted, key->words[word]);
    }
    return fail(f, PEIGH_ERR_ARGUMENT,
                "gallery:%s: %s='%.40s' is none of %.300s", g->entry->name,
                key->name, text, wanted);
}

static peigh_status read_value(struct gallery *g, int k, const char *text,
                               struct failure *f)
{
    const struct gallery_key *key = &g->entry->keys[k];
    bool integer = key->form == GALLERY_INTEGER;
    char wanted[80];
    double value;
    g->given[k] = true;
    if (key->form == GALLERY_WORD)
        return read_word(g, k, text, f);
    if (key->form == GALLERY_LIST)
        return read_list(g, key->name, text, f);
    if (read_number(text, 0, &value) && value >= key->least &&
        value <= key->most && (!integer || value == floor(value))) {
        g->option[k] = value;
        return PEIGH_OK;
    }
    snprintf(wanted, sizeof wanted, "%s in %.12g .. %.12g",
             integer ? "an integer" : "a number", key->least, key->most);
    return bad_value(g, key->name, text, wanted, f);
}

static peigh_status unknown_key(const struct gallery *g, const char *key,
                                struct failure *f)
{
    char list[200] = "";
    for (int k = 0; k < GALLERY_KEYS && g->entry->keys[k].name; k++)
        append(list, sizeof list, g->entry->keys[k].name);
    append(list, sizeof list, "n, seed");
    return fail(f, PEIGH_ERR_ARGUMENT,
                "gallery:%s: no key '%.40s' (there are %s)", g->entry->name,
                key, list);
}

static peigh_status read_option(struct gallery *g, char *option,
                                struct failure *f)
{
    char *value = strchr(option, '=');
    uint64_t number;
    if (value == NULL)
        return fail(f, PEIGH_ERR_ARGUMENT, "gallery:%s: '%.40s' is not "
                    "key=value", g->entry->name, option);
    *value++ = 0;
    if (strcmp(option, "seed") == 0)
        return read_unsigned(g, option, value, UINT64_MAX, &g->seed, f);
    if (strcmp(option, "n") == 0) {
        if (read_unsigned(g, option, value, GALLERY_ORDER_MAX, &number, f) ==
            PEIGH_OK)
            g->n = (int64_t)number;
        return f->status;
    }
    for (int k = 0; k < GALLERY_KEYS && g->entry->keys[k].name; k++)
        if (strcmp(g->entry->keys[k].name, option) == 0)
            return read_value(g, k, value, f);
    return unknown_key(g, option, f);
}

/* NAME[,key=value...]; the text is cut up on the way. */
static peigh_status read_spec(struct gallery *g, char *text, struct failure *f)
{
    char *rest = text, *name = strsep(&rest, ",");
    g->entry = find_entry(name, f);
    if (g->entry == NULL)
        return f->status;
    for (int k = 0; k < GALLERY_KEYS && g->entry->keys[k].name; k++)
        g->option[k] = g->entry->keys[k].fallback;
    while (rest != NULL && !failed(f))
        read_option(g, strsep(&rest, ","), f);
    return f->status;
}

/* ---- The source ---- */

peigh_status gallery_allocate(struct gallery *g, struct failure *f)
{
    size_t bytes = sizeof *g->d * (size_t)(g->n > 0 ? g->n : 1);
    g->d = malloc(bytes);
    return g->d ? PEIGH_OK
                : fail(f, PEIGH_ERR_MEMORY,
                       "gallery:%s: no memory for %zu bytes", g->entry->name,
                       bytes);
}

static peigh_status gallery_fill(const struct source *source, int64_t i0,
                                 int64_t i1, int64_t j0, int64_t j1,
                                 double *a, int64_t lda, struct failure *f)
{
    const struct gallery *g = source->state;
    for (int64_t j = j0; j < j1; j++) {
        double *column = a + (j - j0) * lda;
        for (int64_t i = i0; i < i1; i++)
            column[i - i0] = i < j ? g->entry->entry(g, i, j)
                                   : g->entry->entry(g, j, i);
    }
    return f->status;
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void gallery_eigenvalues(const struct source *source, double *w)
{
    const struct gallery *g = source->state;
    g->entry->eigenvalues(g, w);
    qsort(w, (size_t)g->n, sizeof *w, ascending);
}

static void gallery_close(struct source *source)
{
    struct gallery *g = source->state;
    if (g) {
        free(g->list);
        free(g->d);
    }
    free(g);
    source->state = NULL;
}

static peigh_status gallery_setup(struct gallery *g, struct failure *f)
{
    if (g->n > GALLERY_ORDER_MAX)
        return fail(f, PEIGH_ERR_ARGUMENT, "gallery:%s: n=%lld is larger than "
                    "%d", g->entry->name, (long long)g->n, GALLERY_ORDER_MAX);
    if (g->n < 0)
        g->n = g->entry->order;
    return g->entry->setup ? g->entry->setup(g, f) : PEIGH_OK;
}

enum { BAND = 64 }; /* columns between two looks at the clock */

peigh_status source_open_gallery(struct source *source, const char *spec,
                                 int64_t n, uint64_t seed, struct failure *f)
{
    *source = (struct source){
        .random_access = true, .band = BAND, .fill = gallery_fill,
        .close = gallery_close};
    snprintf(source->name, sizeof source->name, "%s", spec);
    struct gallery *g = source->state = calloc(1, sizeof *g);
    char *text = strdup(spec + strlen("gallery:"));
    if (g == NULL || text == NULL) {
        fail(f, PEIGH_ERR_MEMORY, "gallery: no memory for %zu bytes",
             sizeof *g + strlen(spec));
    } else {
        g->n = n;
        g->seed = seed;
        if (read_spec(g, text, f) == PEIGH_OK &&
            gallery_setup(g, f) == PEIGH_OK) {
            source->n = g->n;
            source->bytes_per_column = g->d ? sizeof *g->d : 0;
            if (g->entry->eigenvalues && !g->no_eigenvalues)
                source->eigenvalues = gallery_eigenvalues;
        }
    }
    free(text);
    if (failed(f))
        gallery_close(source);
    return f->status;
}
