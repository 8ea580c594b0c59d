# peigh.  `make help` lists the targets.
#
# What is needed is installed by scripts/setup.sh (`make run` and `make test`
# call it; plain `make` does not).  Everything can be overridden, for example
#     make CC=mpicc.mpich BLAS_LIBS=-lmyblas SCALAPACK_LIBS=-lscalapack

VERSION  := $(shell sed -n 's/^.define PEIGH_VERSION "\(.*\)"/\1/p' include/peigh.h)
PREFIX   ?= /usr/local
BUILD    ?= build
ifeq ($(origin CC),default)
CC       := mpicc
endif
PKG_CONFIG ?= pkg-config
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow
NP       ?= 16

# The first that pkg-config knows; Debian's names, then others'.
first_known = $(firstword $(foreach p,$(1),$(if $(shell $(PKG_CONFIG) --exists $(p) 2>/dev/null && echo yes),$(p))))
BLAS_PC      := $(call first_known,openblas flexiblas)
SCALAPACK_PC := $(call first_known,scalapack-openmpi scalapack)
BLAS_CFLAGS    ?= $(shell $(PKG_CONFIG) --cflags $(BLAS_PC) 2>/dev/null)
BLAS_LIBS      ?= $(shell $(PKG_CONFIG) --libs $(BLAS_PC) 2>/dev/null)
SCALAPACK_LIBS ?= $(shell $(PKG_CONFIG) --libs-only-l --libs-only-L $(SCALAPACK_PC) 2>/dev/null)
CHECK_CFLAGS   ?= $(shell $(PKG_CONFIG) --cflags check 2>/dev/null)
CHECK_LIBS     ?= $(shell $(PKG_CONFIG) --libs check 2>/dev/null)
# Only the benchmark knows ELPA, and does without it.
ELPA_PC      := $(call first_known,elpa)
ELPA_CFLAGS  ?= $(if $(ELPA_PC),-DPEIGH_BENCH_ELPA $(shell $(PKG_CONFIG) --cflags $(ELPA_PC)))
ELPA_LIBS    ?= $(if $(ELPA_PC),$(shell $(PKG_CONFIG) --libs $(ELPA_PC)))

# Checksums; every Open MPI brings it along.
ZLIB_LIBS ?= $(or $(shell $(PKG_CONFIG) --libs zlib 2>/dev/null),-lz)

# HDF5 files, where there is a library for them; `make HDF5_PC=` does without,
# another MPI wants its own (HDF5_PC=hdf5-mpich).
HDF5_PC      ?= $(call first_known,hdf5-openmpi hdf5-serial hdf5)
HDF5_CFLAGS  ?= $(if $(HDF5_PC),$(filter -I%,$(shell $(PKG_CONFIG) --cflags $(HDF5_PC))))
HDF5_LIBS    ?= $(if $(HDF5_PC),$(filter-out -lmpi,$(shell $(PKG_CONFIG) --libs $(HDF5_PC))))

ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARNINGS) -fPIC -fvisibility=hidden \
             -Iinclude -Isrc $(BLAS_CFLAGS) $(HDF5_CFLAGS) $(CFLAGS) \
             $(EXTRA_CFLAGS) $(SANITIZE)
# The vector code of a meeting: fused multiply-adds where the processor
# has them, square roots and selections without traps.  Nothing that reorders.
VECTOR_CFLAGS = -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math
# And for vector calls of cos, sin and exp (vector_math.h).
MATH_CFLAGS = $(VECTOR_CFLAGS) -fopenmp-simd

# For the tests: a python3 that has NumPy and SciPy.
PYTHON ?= $(firstword $(foreach p,/usr/bin/python3 python3,$(if $(shell $(p) -c "import numpy, scipy" 2>/dev/null && echo yes),$(p))))

# The library, and what the program adds to it.
LIBRARY := solve seam eigenpairs arguments cells gather schedule layout ring pair \
           product small rotate definite bounds cholesky permute input mirror \
           memory search failure
PROGRAM := main command idle interrupt keep log plan allowance cgroup report \
           verify compare matrix stream fill progress checkpoint output part \
           range source source_file source_binary source_npy \
           source_raw source_mtx lines source_gallery gallery_formula \
           gallery_spectra hdf5_name launcher resident table points cosine \
           sum sum_command \
           tall source_streamed source_cosine source_gram \
           $(if $(HDF5_PC),source_hdf5 hdf5_output,hdf5_none)
library_objects := $(LIBRARY:%=$(BUILD)/%.o)
program_objects := $(PROGRAM:%=$(BUILD)/%.o)
sum_objects     := $(BUILD)/sum_main.o $(BUILD)/program.a
# Tests reach into everything but main().
test_objects := $(library_objects) $(filter-out %/main.o,$(program_objects))

# `make V=1` shows the commands, otherwise their targets.
ifeq ($(V),)
say = @echo "  $(1) $@" &&
else
say =
endif

UNIT_TESTS := $(patsubst tests/%.c,%,$(wildcard tests/test_*.c))
MPI_TESTS  := $(patsubst tests/%.c,%,$(wildcard tests/mpi_*.c))
tests      := $(UNIT_TESTS:%=$(BUILD)/%) $(MPI_TESTS:%=$(BUILD)/%) \
              $(BUILD)/accuracy

.PHONY: all run test tests build-tests bench sanitize valgrind install clean help \
        setup check-tools
all: peigh peigh-sum libpeigh.a libpeigh.so

help:
	@echo "make run        install what is missing, build, solve a 500 x 500 matrix on $(NP) ranks"
	@echo "make test       install what is missing, build, run the whole suite"
	@echo "make            build peigh, libpeigh.a and libpeigh.so"
	@echo "make install    into PREFIX=$(PREFIX) (DESTDIR is respected)"
	@echo "make bench      time peigh, ScaLAPACK's solvers and (where installed) ELPA's"
	@echo "make sanitize   the suite with the address and undefined-behaviour sanitizers"
	@echo "make valgrind   the small cases under valgrind"
	@echo "make fuzz       the readers of files and options under libFuzzer, FUZZ_SECONDS=60 each"
	@echo "make clean      remove everything that was built"

# --- building ---------------------------------------------------------------

check-tools:
	@scripts/setup.sh --check build

$(BUILD)/%.o: src/%.c Makefile | check-tools
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/product.o $(BUILD)/rotate.o $(BUILD)/small.o: EXTRA_CFLAGS = $(VECTOR_CFLAGS)
$(BUILD)/cosine.o: EXTRA_CFLAGS = $(MATH_CFLAGS)

peigh: $(library_objects) $(program_objects)
	$(call say,LD) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -Wl,--no-as-needed $(BLAS_LIBS) $(SCALAPACK_LIBS) $(HDF5_LIBS) $(ZLIB_LIBS) -lm

# Linked with what it needs of the rest, and with no library it does not need.
peigh-sum: $(sum_objects)
	$(call say,LD) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -Wl,--as-needed $(BLAS_LIBS) $(HDF5_LIBS) -lm

$(BUILD)/program.a: $(test_objects)
	$(call say,AR) rm -f $@ && ar rcs $@ $^

# Internal names are made local: only peigh_* remains.
$(BUILD)/libpeigh.a: $(library_objects)
	$(call say,AR) ld -r -o $(BUILD)/libpeigh.o $^ && \
	    objcopy --localize-hidden $(BUILD)/libpeigh.o && rm -f $@ && \
	    ar rcs $@ $(BUILD)/libpeigh.o

libpeigh.a: $(BUILD)/libpeigh.a
	cp $< $@

libpeigh.so: $(library_objects)
	$(call say,LD) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libpeigh.so.0 -o $@ $^ $(BLAS_LIBS) -lm

# --- the two commands -------------------------------------------------------

setup:
	@scripts/setup.sh build

run: setup
	@$(MAKE) --no-print-directory peigh
	scripts/mpirun.sh -np $(NP) ./peigh

test:
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory all build-tests
	ctest --test-dir $(BUILD) --output-on-failure

# --- tests ------------------------------------------------------------------

# The tests of the vector code once more, for each level of x86-64 alone.
VECTOR_CODE  := product small rotate
VECTOR_TESTS := $(VECTOR_CODE:%=test_%)
LEVELS := $(foreach l,x86-64 x86-64-v3 x86-64-v4,$(if $(shell \
    $(CC) -march=$(l) -E -x c /dev/null >/dev/null 2>&1 && echo yes),$(l)))
level_tests := $(foreach l,$(LEVELS),$(VECTOR_TESTS:%=$(BUILD)/%_$(l)))
VECTOR_FLAGS = -DPEIGH_NO_CLONES $(VECTOR_CFLAGS)
scalar_objects := $(filter-out $(VECTOR_CODE:%=$(BUILD)/%.o),$(test_objects))

define level
$(VECTOR_TESTS:%=$(BUILD)/%_$(1)): $(BUILD)/%_$(1): tests/%.c $(VECTOR_CODE:%=src/%.c) $(scalar_objects)
	$$(call say,LD) $$(CC) $$(ALL_CFLAGS) $$(VECTOR_FLAGS) -march=$(1) \
	    -DINSTRUCTION_SET='"$(1)"' -MMD -MP $$(CHECK_CFLAGS) $$(LDFLAGS) -o $$@ \
	    $$< $(VECTOR_CODE:%=src/%.c) $(scalar_objects) $$(CHECK_LIBS) \
	    -Wl,--no-as-needed $$(BLAS_LIBS) $$(SCALAPACK_LIBS) $$(HDF5_LIBS) $$(ZLIB_LIBS) -lm
endef
$(foreach l,$(LEVELS),$(eval $(call level,$(l))))

build-tests: $(tests) $(level_tests) $(BUILD)/example $(BUILD)/CTestTestfile.cmake
tests: build-tests

$(tests): $(BUILD)/%: tests/%.c $(test_objects)
	$(call say,LD) $(CC) $(ALL_CFLAGS) -DTEST_PYTHON='"$(PYTHON)"' -MMD -MP \
	    $(CHECK_CFLAGS) $(LDFLAGS) -o $@ $< $(test_objects) $(CHECK_LIBS) \
	    -Wl,--no-as-needed $(BLAS_LIBS) $(SCALAPACK_LIBS) $(HDF5_LIBS) $(ZLIB_LIBS) -lm

# The example of the README, as it stands there.
$(BUILD)/example.c: README.md
	@mkdir -p $(@D)
	sed -n '/^```c/,/^```$$/p' $< | sed '/^```/d' > $@

$(BUILD)/example: $(BUILD)/example.c $(BUILD)/libpeigh.a
	$(call say,LD) $(CC) -std=c11 $(WARNINGS) -Iinclude $(SANITIZE) $(LDFLAGS) -o $@ $^ $(BLAS_LIBS) -lm

$(BUILD)/CTestTestfile.cmake: tests/CTestTestfile.cmake Makefile
	@mkdir -p $(@D)
	sed -e 's|@ROOT@|$(CURDIR)|; s|@BUILD@|$(abspath $(BUILD))|; s|@PYTHON@|$(PYTHON)|' \
	    $< > $@

# Sanitizers start before the resolvers of target clones can run, so without.
sanitize:
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory BUILD=build/sanitize NP=$(NP) \
	    CFLAGS="-O1 -g -DPEIGH_NO_CLONES" \
	    SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" \
	    sanitize-suite

.PHONY: sanitize-suite
sanitize-suite: build-tests $(BUILD)/peigh $(BUILD)/peigh-sum
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 PEIGH_PROGRAM=$(CURDIR)/$(BUILD)/peigh \
	    PEIGH_SUM_PROGRAM=$(CURDIR)/$(BUILD)/peigh-sum \
	    ctest --test-dir $(BUILD) --output-on-failure -LE 'memory|install|limits|slurm'

$(BUILD)/peigh-sum: $(sum_objects)
	$(call say,LD) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -Wl,--as-needed $(BLAS_LIBS) $(HDF5_LIBS) -lm

$(BUILD)/peigh: $(library_objects) $(program_objects)
	$(call say,LD) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -Wl,--no-as-needed $(BLAS_LIBS) $(SCALAPACK_LIBS) $(HDF5_LIBS) $(ZLIB_LIBS) -lm

valgrind:
	@scripts/setup.sh valgrind
	@$(MAKE) --no-print-directory all build-tests
	scripts/valgrind.sh $(BUILD)

# --- fuzzing ----------------------------------------------------------------

# One fuzzer per reader; new inputs are kept in $(FUZZ), those that break a
# rule as $(FUZZ)/NAME-crash-*.  A useful one belongs to tests/fuzz/NAME.
FUZZ := build/fuzz
FUZZ_SECONDS ?= 60
FUZZERS := npy mtx words
fuzz_sources := $(addprefix src/,$(addsuffix .c,source_file source_binary \
    source_npy source_raw source_mtx source_gallery gallery_formula \
    gallery_spectra lines progress range ring hdf5_name hdf5_none failure))

$(FUZZ)/fuzz_%: tests/fuzz/fuzz.c tests/fuzz_case.h $(fuzz_sources) $(wildcard src/*.h)
	@mkdir -p $(FUZZ)/$*
	OMPI_CC=clang MPICH_CC=clang mpicc -std=c11 -D_GNU_SOURCE -g -O1 -Iinclude -Isrc \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	    -DFUZZ=fuzz_$* -o $@ $< $(fuzz_sources) -lm

.PHONY: fuzz
fuzz:
	@scripts/setup.sh fuzz
	@$(MAKE) --no-print-directory $(FUZZERS:%=$(FUZZ)/fuzz_%)
	@for name in $(FUZZERS); do echo "fuzzing $$name for $(FUZZ_SECONDS) s"; \
	    ASAN_OPTIONS=detect_leaks=0 $(FUZZ)/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) \
	    -max_len=4096 -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
	    -artifact_prefix=$(FUZZ)/$$name- $(FUZZ)/$$name tests/fuzz/$$name || exit 1; done

# --- benchmark --------------------------------------------------------------

# peigh's BLAS comes first, so that it is everybody's.
$(BUILD)/bench: tests/bench.c $(test_objects)
	$(call say,LD) $(CC) $(ALL_CFLAGS) $(ELPA_CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< \
	    $(test_objects) -Wl,--no-as-needed $(BLAS_LIBS) $(SCALAPACK_LIBS) $(HDF5_LIBS) $(ELPA_LIBS) $(ZLIB_LIBS) -lm

bench:
	@BUILD=$(BUILD) scripts/bench.sh

# --- installing -------------------------------------------------------------

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include \
	    $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 peigh peigh-sum $(DESTDIR)$(PREFIX)/bin
	install -m 644 src/peigh.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 include/peigh.h $(DESTDIR)$(PREFIX)/include
	install -m 644 libpeigh.a $(DESTDIR)$(PREFIX)/lib
	install -m 755 libpeigh.so $(DESTDIR)$(PREFIX)/lib/libpeigh.so.0
	ln -sf libpeigh.so.0 $(DESTDIR)$(PREFIX)/lib/libpeigh.so
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|; s|@BLAS@|$(BLAS_PC)|' \
	    scripts/peigh.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/peigh.pc

clean:
	rm -rf build peigh peigh-sum libpeigh.a libpeigh.so

-include $(wildcard $(BUILD)/*.d)
