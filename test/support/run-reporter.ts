import { readFileSync } from "node:fs";
import { DefaultReporter, type TestCase, type TestModule, type TestSpecification } from "vitest/node";
import type { Quarantined } from "./quarantine.ts";

const slowestShown = 10;
/** A suite of the platform that takes longer than that says why at its head. */
const longSeconds = 10;
const progressEveryMs = 10_000;

/**
 * Prints a line of progress every ten seconds, each failed suite when it fails, and at the end the failures with their
 * evidence, the slowest suites, the skipped tests, the quarantined tests and the seed of the order.
 */
export class RunReporter extends DefaultReporter {
  #count = { suites: 0, done: 0, passed: 0, failed: 0 };
  #timer: NodeJS.Timeout | undefined;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    const { seed } = this.ctx.config.sequence;
    this.log(` ${specifications.length} suites, order of seed ${seed} (--sequence.seed=${seed} repeats it)`);
    this.#count = { suites: specifications.length, done: 0, passed: 0, failed: 0 };
    if (!this.isTTY) {
      this.#timer = setInterval(() => this.log(this.#progress()), progressEveryMs);
    }
  }

  override onTestCaseResult(test: TestCase): void {
    super.onTestCaseResult(test);
    const { state, errors = [] } = test.result();
    this.#count.passed += state === "passed" ? 1 : 0;
    this.#count.failed += state === "failed" ? 1 : 0;
    // The whole error comes at the end of the run; whoever watches wants to know at once.
    for (const { message, stacks } of errors) {
      const at = stacks?.find(({ file }) => file.endsWith(".test.ts"));
      this.log(
        ` FAILED ${test.module.relativeModuleId}:${at?.line ?? ""} ${test.fullName}\n   ${message.slice(0, 400)}`,
      );
    }
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    this.#count.done += 1;
  }

  /** A suite that passed needs no line of its own in a log; a single suite shows its tests. */
  override printTestModule(module: TestModule): void {
    if (module.state() === "failed" || this.isTTY || this.#count.suites <= 3) {
      super.printTestModule(module);
    }
  }

  override onTestRunEnd(...args: Parameters<DefaultReporter["onTestRunEnd"]>): void {
    clearInterval(this.#timer);
    const [modules] = args;
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    this.#printSlowest(modules);
    this.#printSkipped(tests);
    this.#printQuarantined(tests);
    this.#printEvidence(tests);
    super.onTestRunEnd(...args);
  }

  #progress(): string {
    const { suites, done, passed, failed } = this.#count;
    const seconds = Math.round((performance.now() - this.start) / 1000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    return ` ${clock}  ${done} of ${suites} suites, ${passed} tests passed, ${failed} failed`;
  }

  #printSlowest(modules: readonly TestModule[]): void {
    const timed = modules.map((module) => ({ module, seconds: secondsOf(module) }));
    const slowest = timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
    this.#section(
      "Slowest suites",
      slowest.map(({ module, seconds }) => {
        const reason =
          seconds < longSeconds ? "" : `: ${reasonOf(module) ?? "its first line says no reason"}`;
        return `${seconds.toFixed(1).padStart(6)} s  ${module.relativeModuleId}${reason}`;
      }),
    );
  }

  #printSkipped(tests: readonly TestCase[]): void {
    const counts = new Map<string, number>();
    for (const test of tests) {
      if (test.result().state === "skipped") {
        const { relativeModuleId } = test.module;
        counts.set(relativeModuleId, (counts.get(relativeModuleId) ?? 0) + 1);
      }
    }
    this.#section(
      "Skipped tests",
      [...counts].map(([name, count]) => `${String(count).padStart(6)}    ${name}`),
    );
  }

  #printQuarantined(tests: readonly TestCase[]): void {
    const found = tests.flatMap((test) => {
      const { quarantined } = test.meta() as { quarantined?: Quarantined };
      return quarantined === undefined ? [] : [{ test, ...quarantined }];
    });
    this.#section(
      `Quarantined tests (${found.length})`,
      found.map(({ test, reason, error }) => {
        const outcome = error === undefined ? "passed" : `FAILED: ${error}`;
        return `${test.module.relativeModuleId} > ${test.fullName}\n    ${reason}\n    ${outcome}`;
      }),
    );
  }

  #printEvidence(tests: readonly TestCase[]): void {
    const failed = tests.filter((test) => test.result().state === "failed");
    const known = failed.flatMap((test) => {
      const { evidence } = test.meta() as { evidence?: string };
      return evidence === undefined
        ? []
        : [`${test.module.relativeModuleId} > ${test.fullName}\n${evidence}\n`];
    });
    this.#section("Before the failures", known);
  }

  #section(title: string, lines: readonly string[]): void {
    if (lines.length > 0) {
      this.log(`\n ${title}\n${lines.map((line) => `  ${line}`).join("\n")}`);
    }
  }
}

/** What the first line of a suite says of its time: "// Takes long: a server is killed and started again." */
function reasonOf({ moduleId }: TestModule): string | undefined {
  return /^\/\/ Takes long: (.+)/.exec(readFileSync(moduleId, "utf8"))?.[1];
}

function secondsOf(module: TestModule): number {
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return (duration + collectDuration + setupDuration) / 1000;
}
