/* source:KIND,key=value,...: which kind, and its keys. */
#include "streamed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const key_name[STREAMED_KEYS] = {
    [KEY_POINTS] = "points", [KEY_VECTORS] = "vectors",
    [KEY_WEIGHTS] = "weights", [KEY_FILE] = "file",
    [KEY_CENTER] = "center", [KEY_SCALE] = "scale"};

static const struct kind {
    const char *name, *keys;
    unsigned takes, needs; /* bits of keys */
    peigh_status (*open)(struct source *source,
                         const struct streamed_spec *spec, struct failure *f);
} kinds[] = {
    {"cosine", "points, vectors, weights",
     1u << KEY_POINTS | 1u << KEY_VECTORS | 1u << KEY_WEIGHTS,
     1u << KEY_POINTS | 1u << KEY_VECTORS, source_open_cosine},
    {"gram", "file, center, scale",
     1u << KEY_FILE | 1u << KEY_CENTER | 1u << KEY_SCALE, 1u << KEY_FILE,
     source_open_gram},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct kind *find_kind(const char *name, struct failure *f)
{
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return &kinds[k];
    fail(f, PEIGH_ERR_ARGUMENT, "source: no kind '%.40s' (there are cosine, "
         "gram)", name);
    return NULL;
}

static void read_key(const struct kind *kind, struct streamed_spec *spec,
                     char *word, struct failure *f)
{
    char *value = strchr(word, '=');
    int k = 0;
    if (value)
        *value++ = 0;
    while (k < STREAMED_KEYS && (strcmp(key_name[k], word) != 0 ||
                                 !(kind->takes >> k & 1)))
        k++;
    if (k == STREAMED_KEYS)
        fail(f, PEIGH_ERR_ARGUMENT, "source:%s: no key '%.40s' (there are "
             "%s)", kind->name, word, kind->keys);
    else if (k == KEY_CENTER ? value != NULL : !value || !*value)
        fail(f, PEIGH_ERR_ARGUMENT, "source:%s: %s %s", kind->name, word,
             value && *value ? "takes no value" : "needs =value");
    else if (spec->value[k])
        fail(f, PEIGH_ERR_ARGUMENT, "source:%s: %s is there twice",
             kind->name, word);
    else
        spec->value[k] = value ? value : word;
}

peigh_status source_open_streamed(struct source *source, const char *text,
                                  struct failure *f)
{
    struct streamed_spec spec = {{NULL}};
    char *words = strdup(text + strlen("source:")), *rest = words;
    *source = (struct source){0};
    snprintf(source->name, sizeof source->name, "%s", text);
    if (!words)
        return fail(f, PEIGH_ERR_MEMORY, "source: no memory for %zu bytes",
                    strlen(text));
    const struct kind *kind = find_kind(strsep(&rest, ","), f);
    while (rest && !failed(f))
        read_key(kind, &spec, strsep(&rest, ","), f);
    for (int k = 0; k < STREAMED_KEYS && !failed(f); k++)
        if (kind->needs >> k & 1 && !spec.value[k])
            fail(f, PEIGH_ERR_ARGUMENT, "source:%s: %s= is missing",
                 kind->name, key_name[k]);
    if (!failed(f))
        kind->open(source, &spec, f);
    free(words);
    return f->status;
}
