import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import ts from "typescript";
import { listFiles } from "../hygiene.ts";
import { findClockNames, isClockName } from "./clock-names.ts";
import { findAll, isMachineClock } from "./machine-clock.ts";

/** Code of tests, but for the fixture that reads the clock for expectations, and the suite of the product's own clock. */
const ofTests = /^(?!test\/support\/clock\/|storage\/clock).*(\.(test|fixture)|\/testing|^test\/[^.]*)\.ts$/;

/**
 * Expectations of tests that read the clock: `Date.now()`, `new Date()` and their like inside `expect(…)` or an
 * expected value, and names for them that nothing but expectations use. Such a test fails at midnight, on a slow machine
 * or on a Saturday.
 */
export async function findDatedExpectations(place: string): Promise<string[]> {
  const paths = (await listFiles(place)).filter((path) => ofTests.test(path));
  const texts = await Promise.all(paths.map((path) => readFile(join(place, path), "utf8")));
  const clocks = paths.flatMap((path, at) => findHelpers(path, texts[at]!));
  return paths.flatMap((path, at) => findIn(path, texts[at]!, new Set([...productClocks, ...clocks])));
}

/** Exported functions that return the time, as `<file>:<name>`; those of the product. */
const productClocks = ["clock.ts:seconds", "clock.ts:nanoseconds"];

/** Those that a file of tests offers to others. */
function findHelpers(path: string, text: string): string[] {
  if (path.endsWith(".test.ts") || !mentionsClock.test(text)) {
    return [];
  }
  const names = findClockNames(parse(path, text), { expectations: [], helpers: new Set() });
  return names.filter(({ isFunction }) => isFunction).map(({ name }) => `${basename(path)}:${name}`);
}

const mentionsClock = /\bDate\b|\bTemporal\b|\btimeOrigin\b/;

/** Those of one file, by their lines. */
export function findIn(
  path: string,
  text: string,
  helpers: ReadonlySet<string> = new Set(productClocks),
): string[] {
  const offers = [...helpers].some((each) => text.includes(each.split(":")[0]!));
  if (!offers && !mentionsClock.test(text)) {
    return [];
  }
  const file = parse(path, text);
  const expectations = findAll(file, ts.isCallExpression)
    .filter((node) => isExpectation(node))
    .flatMap((node) => [...node.arguments]);
  const clocks = findClockNames(file, { expectations, helpers });
  const tellsTime = (node: ts.Node) => isMachineClock(node) || isClockName(node, clocks);
  const found = new Map<number, string>();
  for (const each of expectations.flatMap((node) => findAll(node, tellsTime))) {
    const { parent } = each;
    const isCalled = ts.isCallExpression(parent) && parent.expression === each && !ts.isIdentifier(each);
    found.set(each.getStart(), (isCalled ? parent : each).getText());
  }
  return [...found].map(([at, seen]) => {
    const line = file.getLineAndCharacterOfPosition(at).line + 1;
    return `${path}:${line} expects ${seen}; compare with isJustNow() or secondsUntil() of test/support/clock/now.ts, or measure with performance.now()`;
  });
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** `expect(…)`, `expect.poll(…)`, the matchers that follow them, and `assert(…)`. */
function isExpectation({ expression }: ts.CallExpression): boolean {
  let root: ts.Node = expression;
  while (ts.isPropertyAccessExpression(root) || ts.isCallExpression(root)) {
    root = root.expression;
  }
  return ts.isIdentifier(root) && /^(expect|assert)$/.test(root.text);
}
