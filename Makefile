# Everything goes through Maven; these are the commands worth remembering.
MVN ?= mvn -B
ROUNDS ?= 50
CUTS ?= 30
TLS_ROUNDS ?= 0
BROKER ?= mosquitto
FROM ?= 0
RESULTS ?=
FUZZ_PACKETS ?= 10000000
FUZZ_LIVE ?= 500000
SEEDS ?= 10000
SIM_SEED ?=
SEED ?=
BENCH_ARGS ?=
PULL ?=

# For a quick build of what runs: no tests (verify does those, and the formatter and the static analysis).
PACKAGE = $(MVN) -q package -Dmaven.test.skip=true

.DEFAULT_GOAL := help
.PHONY: help run test check format docs build bench bench-outage crash-test fuzz sim docker-test clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build and start the proxy on LISTEN=1883, in front of UPSTREAM=mqtt://host:port or else of a development broker
	@$(PACKAGE) -pl proxy,proxy/devbroker -am
	@exec .ci/dev-run

test: ## Build all and run every fast test; installs Mosquitto if it is missing (root) or says what to install
	@.ci/need-mosquitto
	$(MVN) verify -Dspotless.check.skip=true -Dcheckstyle.skip=true

check: ## What a commit must pass: the tests, the formatter, the static analysis
	@.ci/need-mosquitto
	$(MVN) verify

format: ## Format the code
	$(MVN) -q spotless:apply

docs: ## Write docs/CONFIGURATION.md and docs/METRICS.md from the flags and the meters
	$(MVN) -q test -pl proxy,proxy/devbroker -am -Dtest=ReferencePagesTest -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dholdfast.docs.write=true

build: ## Leave a self-contained proxy/target/holdfast/ (bin/holdfast and lib/)
	$(PACKAGE) -pl proxy -am

bench: ## Run the JMH benchmarks (BENCH_ARGS='-h' lists the options)
	$(PACKAGE) -pl bench -am
	java -jar bench/target/benchmarks.jar $(BENCH_ARGS)

bench-outage: ## Fill an outbox with the broker away, restart, drain beside a bare publisher (BENCH_ARGS='--gib 20 --work-dir DIR'; -h)
	$(PACKAGE) -pl bench -am
	java -cp bench/target/benchmarks.jar io.holdfast.bench.OutageVolume $(BENCH_ARGS)

crash-test: ## kill -9 and power cuts at random instants and named points (ROUNDS=50 CUTS=30 TLS_ROUNDS=0 BROKER=mosquitto|hivemq FROM=0 RESULTS=FILE SEED=…)
	@.ci/need-mosquitto
	$(MVN) verify -pl proxy,proxy/devbroker -am -Dspotless.check.skip=true -Dcheckstyle.skip=true \
	  -Dholdfast.test.groups=crash -Dholdfast.test.excludedGroups= -Dholdfast.crash.rounds=$(ROUNDS) \
	  -Dholdfast.crash.cuts=$(CUTS) -Dholdfast.crash.tlsRounds=$(TLS_ROUNDS) -Dholdfast.crash.broker=$(BROKER) \
	  -Dholdfast.crash.from=$(FROM) $(if $(RESULTS),-Dholdfast.crash.results=$(abspath $(RESULTS))) \
	  $(if $(SEED),-Dholdfast.crash.seed=$(SEED))

fuzz: ## Broken packets: FUZZ_PACKETS=10000000 in memory, FUZZ_LIVE=500000 over sockets (FUZZ_SEED=… repeats, FUZZ_FROM=chunk goes on)
	@.ci/need-mosquitto
	$(MVN) verify -pl proxy,proxy/devbroker -am -Dspotless.check.skip=true -Dcheckstyle.skip=true \
	  -Dholdfast.test.groups=fuzz -Dholdfast.test.excludedGroups= \
	  -Dholdfast.fuzz.packets=$(FUZZ_PACKETS) -Dholdfast.fuzz.live=$(FUZZ_LIVE) \
	  $(if $(FUZZ_SEED),-Dholdfast.fuzz.seed=$(FUZZ_SEED)) $(if $(FUZZ_FROM),-Dholdfast.fuzz.from=$(FUZZ_FROM))

sim: ## The deterministic simulation: SEEDS=10000 of them, or SIM_SEED=… to see one again (docs/TESTING.md)
	$(MVN) verify -pl proxy,proxy/devbroker -am -Dspotless.check.skip=true -Dcheckstyle.skip=true \
	  -Dholdfast.test.groups=sim -Dholdfast.test.excludedGroups= \
	  -Dholdfast.sim.seeds=$(SEEDS) $(if $(SIM_SEED),-Dholdfast.sim.seed=$(SIM_SEED))

docker-test: ## Play the main job and outages in front of broker images (docs/TESTING.md); PULL=true pulls them
	$(MVN) verify -pl proxy,proxy/devbroker -am -Dspotless.check.skip=true -Dcheckstyle.skip=true \
	  -Dholdfast.test.groups=docker -Dholdfast.test.excludedGroups= $(if $(PULL),-Dholdfast.docker.pull=$(PULL))

clean: ## Remove everything that was built
	$(MVN) -q clean
