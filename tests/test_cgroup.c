/* Control groups, from trees of files like those of the kernel. */
#include "cgroup.h"

#include "expect.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[] = "/tmp/peigh-cgroup-XXXXXX";
static struct cgroup level[CGROUPS_MAX];

/* Make root/path, its folders too, with this text in it. */
static void file(const char *path, const char *format, ...)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/%s", root, path);
    for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        char command[PATH_MAX + 16];
        snprintf(command, sizeof command, "mkdir -p '%.*s'",
                 (int)(at - name), name);
        expect_eq(system(command), 0);
    }
    FILE *stream = fopen(name, "w");
    expect(stream != NULL);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    fclose(stream);
}

static int levels(void)
{
    char proc[PATH_MAX];
    snprintf(proc, sizeof proc, "%s/proc", root);
    return cgroup_levels(proc, level);
}

static void setup(void)
{
    strcpy(root, "/tmp/peigh-cgroup-XXXXXX");
    expect(mkdtemp(root) != NULL);
}

static void teardown(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    expect_eq(system(command), 0);
}

START_TEST(version_2_is_walked_up_to_the_root)
{
    file("proc/cgroup", "0::/job/step/task\n");
    file("proc/mountinfo", "30 1 0:26 / %s/fs rw - cgroup2 cgroup2 rw\n",
         root);
    file("fs/job/memory.max", "1000000\n");
    file("fs/job/memory.current", "400000\n");
    file("fs/job/memory.stat", "anon 100\ninactive_file 50000\n"
         "active_file 30000\n");
    file("fs/job/step/memory.max", "max\n");
    file("fs/job/step/memory.high", "900000\n");
    file("fs/job/step/memory.current", "950000\n");
    file("fs/job/step/task/memory.max", "max\n");
    file("fs/job/step/task/memory.current", "5\n");
    expect_eq(levels(), 2);
    expect_eq(level[0].limit, 900000);
    expect_eq(level[0].left, 0);
    expect_eq(level[1].limit, 1000000);
    expect_eq(level[1].left, 1000000 - 400000 + 80000);
    expect(level[0].id != level[1].id);
    expect(strstr(level[1].path, "/fs/job") != NULL);
}
END_TEST

START_TEST(version_1_is_found_among_its_controllers)
{
    file("proc/cgroup", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/a/b\n0::/\n");
    file("proc/mountinfo",
         "28 1 0:24 / %s/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
         "29 1 0:25 / %s/mem rw shared:7 - cgroup cgroup rw,memory\n",
         root, root);
    file("mem/memory.limit_in_bytes", "9223372036854771712\n");
    file("mem/memory.usage_in_bytes", "1\n");
    file("mem/a/memory.limit_in_bytes", "5000000\n");
    file("mem/a/memory.usage_in_bytes", "2000000\n");
    file("mem/a/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n"
         "total_active_file 200\n");
    file("mem/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    file("mem/a/b/memory.usage_in_bytes", "1\n");
    expect_eq(levels(), 1);
    expect_eq(level[0].limit, 5000000);
    expect_eq(level[0].left, 3001200);
}
END_TEST

START_TEST(a_container_sees_a_part_of_the_tree)
{
    file("proc/cgroup", "4:memory:/docker/abc/job\n");
    file("proc/mountinfo",
         "29 1 0:25 /docker/abc %s/mem ro - cgroup cgroup rw,memory\n", root);
    file("mem/memory.limit_in_bytes", "7000000\n");
    file("mem/memory.usage_in_bytes", "1000000\n");
    file("mem/job/memory.limit_in_bytes", "6000000\n");
    file("mem/job/memory.usage_in_bytes", "0\n");
    expect_eq(levels(), 2);
    expect_eq(level[0].left, 6000000);
    expect_eq(level[1].left, 6000000);
    file("proc/cgroup", "4:memory:/elsewhere/job\n");
    expect_eq(levels(), 1);
    expect_eq(level[0].limit, 7000000);
}
END_TEST

START_TEST(without_limits_or_groups_there_are_no_levels)
{
    expect_eq(levels(), 0);
    file("proc/cgroup", "nonsense\n0::/\n");
    file("proc/mountinfo", "30 1 0:26 / %s/fs rw - tmpfs none rw\n", root);
    expect_eq(levels(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cgroup");
    TCase *t = tcase_create("cgroup");
    tcase_set_timeout(t, 0); /* CTest holds the clock */
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, version_2_is_walked_up_to_the_root);
    tcase_add_test(t, version_1_is_found_among_its_controllers);
    tcase_add_test(t, a_container_sees_a_part_of_the_tree);
    tcase_add_test(t, without_limits_or_groups_there_are_no_levels);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}
