# The front door. Every target installs what it needs first (tools/setup) and does nothing twice.
#
#   make            release build: build/karpenter
#   make test       all tests under AddressSanitizer and UndefinedBehaviorSanitizer; TESTS='name ...' picks some
#   make lint       format, static analysis, layers
#   make format     lays every source out as lint wants it
#   make fuzz T=60  every fuzz target for T seconds
#   make soak H=8   random clusters with faults for H hours on all cores; adds to build/soak.json; ARGS='--seed 7' runs one (docs/reliability.md)
#   make bench      benchmarks; writes build/bench.json
#   make demo       the demo; ARGS=--tour runs the guided tour
#   make e2e        the program against a real control plane
#   make install    program, kubectl plugin, man page, completions; PREFIX=/usr/local DESTDIR=
#   make clean      forgets every build, keeps fetched libraries
#
# CC=clang BUILD=build/clang and MESON_FLAGS='-Doptimization=3' work as one would hope (CONTRIBUTING.md).

BUILD ?= build
SAN ?= build/san
FUZZ ?= build/fuzz
FAST ?= build/fast
PREFIX ?= /usr/local
T ?= 60
H ?= 8
MESON_FLAGS ?=
# Link-time optimisation is worth an eighth of the planner's time; with clang it would need another linker.
LTO ?= $(if $(findstring clang,$(CC)),false,true)
TESTS ?=
ARGS ?=

SETUP = ./tools/setup

all: $(BUILD)/build.ninja
	@$(SETUP) build
	@ninja -C $(BUILD) karpenter

$(BUILD)/build.ninja:
	@$(SETUP) build
	@meson setup $(BUILD) --prefix=$(PREFIX) -Dtests=false -Db_lto=$(LTO) $(MESON_FLAGS)

$(SAN)/build.ninja:
	@$(SETUP) build test
	@meson setup $(SAN) -Db_sanitize=address,undefined -Doptimization=1 -Dbench=false $(MESON_FLAGS)

$(FUZZ)/build.ninja:
	@$(SETUP) build test fuzz
	@CC=clang meson setup $(FUZZ) -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Dbench=false

# Tests as fast as they can be: a third faster than without link-time optimisation.
$(FAST)/build.ninja:
	@$(SETUP) build test
	@meson setup $(FAST) -Db_lto=$(LTO) -Doptimization=3 -Dbench=false $(MESON_FLAGS)

test: $(SAN)/build.ninja
	@$(SETUP) build test
	@ninja -C $(SAN)
	@./tools/run-tests $(SAN) $(TESTS)

lint:
	@$(SETUP) build lint
	@./tools/lint

format:
	@$(SETUP) lint
	@find src tests bench -name '*.[ch]' -exec clang-format -i {} +

fuzz: $(FUZZ)/build.ninja
	@$(SETUP) build fuzz
	@ninja -C $(FUZZ)
	@./tools/run-fuzz $(FUZZ) $(T)

soak: $(FAST)/build.ninja
	@$(SETUP) build test
	@ninja -C $(FAST) tests/sim/soak
	@$(FAST)/tests/sim/soak $(if $(ARGS),$(ARGS),--for $(H) --add build/soak.json)

bench: all
	@test -x bench/run || { echo 'make bench: there are no benchmarks yet (bench/run is missing).' >&2; exit 1; }
	@$(SETUP) bench
	@ninja -C $(BUILD)
	@./bench/run $(BUILD) $(ARGS)

demo:
	@test -e src/cli/demo/demo.c || { echo 'make demo: the demo does not exist yet.' >&2; exit 1; }
	@$(MAKE) --no-print-directory all
	@$(BUILD)/karpenter demo $(ARGS)

e2e: $(SAN)/build.ninja
	@test -x tests/e2e/run || { echo 'make e2e: the end-to-end tests do not exist yet.' >&2; exit 1; }
	@$(MAKE) --no-print-directory all
	@ninja -C $(SAN) tests/sim/aws_server
	@E2E_AWS_SERVER=$(SAN)/tests/sim/aws_server ./tests/e2e/run $(BUILD)/karpenter $(ARGS)

# The prefix is a setting of the build directory; meson rewrites the program's library path as it installs.
install: all
	@meson configure $(BUILD) -Dprefix=$(PREFIX) && meson setup --reconfigure $(BUILD) >/dev/null
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir=$(abspath $(DESTDIR)))

clean:
	@find build -mindepth 1 -maxdepth 1 ! -name deps -exec rm -rf {} + 2>/dev/null || true

.PHONY: all test lint format fuzz soak bench demo e2e install clean
