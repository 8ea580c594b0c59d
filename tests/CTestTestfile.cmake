# The suite, for ctest.  make copies this file into the build folder and fills
# in @ROOT@, @BUILD@ and @PYTHON@; a new tests/test_*.c or tests/mpi_*.c needs
# a line here.
#
# Labels: quick (one process), mpi (several ranks), hard (every difficult
# matrix), memory (measures resident memory), cli (the program), checkpoint
# (stopped and resumed), install, limits (of memory), slurm (a Slurm of one
# node, where it is installed).

macro(peigh_test name labels timeout)
    add_test(${name} ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}"
        TIMEOUT ${timeout} WORKING_DIRECTORY "@ROOT@" RUN_SERIAL TRUE)
endmacro()

# program on each of the given numbers of ranks
macro(peigh_mpi_test program labels timeout)
    foreach(ranks ${ARGN})
        peigh_test(${program}_${ranks} "mpi;${labels}" ${timeout}
            "@ROOT@/scripts/mpirun.sh" -np ${ranks} "@BUILD@/${program}")
    endforeach()
endmacro()

foreach(program test_schedule test_product test_rotate test_small test_source
        test_fuzz test_plan test_cgroup)
    peigh_test(${program} quick 60 "@BUILD@/${program}")
endforeach()

# vector code, compiled for one instruction set
file(GLOB levels "@BUILD@/test_*_x86-64" "@BUILD@/test_*_x86-64-v[34]")
foreach(program ${levels})
    get_filename_component(name ${program} NAME)
    peigh_test(${name} quick 60 ${program})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()

peigh_mpi_test(mpi_solve "solve" 60 1 2 3 16)
peigh_mpi_test(mpi_sizes "sizes" 60 1 2 3 4 5 7 8 13 16)
peigh_mpi_test(mpi_bits "bits" 60 16)
peigh_mpi_test(mpi_verify "verify" 60 1 2 3 5 16)
peigh_mpi_test(mpi_files "files" 60 1 2 3 16)
peigh_mpi_test(mpi_checkpoint "checkpoint" 90 1 2 3 16)
peigh_mpi_test(mpi_memory "memory" 120 1 3 16)
peigh_mpi_test(mpi_hard "hard" 90 1 3 16)
peigh_mpi_test(mpi_definite "hard" 120 1 2 3 16)

# The program, one test to a sentence of tests/cli*.py; 77: not here.
macro(peigh_cli_tests file labels timeout)
    execute_process(COMMAND "@PYTHON@" "@ROOT@/tests/${file}.py" --list
        OUTPUT_VARIABLE names OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "\n" ";" names "${names}")
    foreach(name ${names})
        peigh_test(${file}_${name} "${labels}" ${timeout}
            "@PYTHON@" "@ROOT@/tests/${file}.py" ${name})
        set_tests_properties(${file}_${name} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
endmacro()

peigh_cli_tests(cli "cli;mpi" 90)
peigh_cli_tests(cli_files "cli;mpi" 90)
peigh_cli_tests(cli_sum "cli;mpi" 90)
peigh_cli_tests(cli_streamed "cli;mpi" 90)
peigh_cli_tests(limits "limits;mpi" 90)
peigh_cli_tests(cli_checkpoint "cli;mpi;checkpoint" 90)
peigh_cli_tests(slurm "slurm" 120)

file(GLOB objects "@BUILD@/*.o")
peigh_test(portable quick 60 sh "@ROOT@/tests/portable.sh" ${objects})
set_tests_properties(portable PROPERTIES SKIP_RETURN_CODE 77)
peigh_test(install install 120 sh "@ROOT@/tests/install.sh")
peigh_test(setup install 60 sh "@ROOT@/tests/setup.sh")
peigh_mpi_test(example "example" 60 3)
