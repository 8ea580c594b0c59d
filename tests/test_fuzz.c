/* The fuzzers' corpus again, in the ordinary suite: seeds, what reached new
 * code, and every input that once broke a rule of fuzz_case.h. */
#include "expect.h"
#include "fuzz_case.h"

#include <dirent.h>
#include <mpi.h>

/* Every file of a folder to one of the fuzzers; how many there were. */
static int replay(const char *folder, void (*run)(const uint8_t *, size_t))
{
    enum { LARGEST = 1 << 16 };
    static uint8_t data[LARGEST];
    int count = 0;
    DIR *list = opendir(folder);
    expect(list != NULL);
    for (struct dirent *entry; (entry = readdir(list));) {
        char path[512];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        expect(file != NULL);
        run(data, fread(data, 1, sizeof data, file));
        fclose(file);
        count++;
    }
    closedir(list);
    return count;
}

START_TEST(any_bytes_are_a_npy_file_or_a_clear_error)
{
    expect(replay("tests/fuzz/npy", fuzz_npy) >= 10);
}
END_TEST

START_TEST(any_bytes_are_a_matrix_market_file_or_a_clear_error)
{
    expect(replay("tests/fuzz/mtx", fuzz_mtx) >= 10);
}
END_TEST

START_TEST(any_word_is_an_option_or_a_clear_error)
{
    expect(replay("tests/fuzz/words", fuzz_words) >= 10);
}
END_TEST

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    TCase *t = tcase_create("fuzz");
    tcase_set_timeout(t, 0); /* CTest holds the clock */
    tcase_add_test(t, any_bytes_are_a_npy_file_or_a_clear_error);
    tcase_add_test(t, any_bytes_are_a_matrix_market_file_or_a_clear_error);
    tcase_add_test(t, any_word_is_an_option_or_a_clear_error);
    Suite *suite = suite_create("fuzz");
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    MPI_Finalize();
    return failures != 0;
}
