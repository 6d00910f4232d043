import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Regular expressions that are slow on crafted texts, with the reason why no caller can send one. By file and source. */
const outOfReach: Record<string, string> = {
  "config/parse.ts (\\d+(?:\\.\\d+)?)\\s*(ms|s|m|h|d|w)":
    "is asked of texts alone that the anchored form beside it has let through",
};

interface Found {
  readonly place: string;
  readonly regex: RegExp;
}

/** Every regular expression of the program, from its syntax trees; the built interface holds those of packages. */
function listRegexes(): Found[] {
  const files = ["config", "kernel", "plugins", "storage"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|js)$/.test(name) && !/\.(test|fixture)\.ts$|^web\/dist/.test(name))
      .map((name) => join(folder, name)),
  );
  return files.flatMap((file) => {
    const tree = ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.Latest);
    const found: Found[] = [];
    const visit = (node: ts.Node): void => {
      if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
        const [, source = "", flags = ""] =
          /^\/(.*)\/(\w*)$/s.exec((node as ts.RegularExpressionLiteral).text) ?? [];
        found.push({ place: `${file} ${source}`, regex: new RegExp(source, flags) });
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return found;
  });
}

const signs = [
  "a",
  "A",
  "0",
  " ",
  "\t",
  "\n",
  "\r",
  "/",
  ".",
  "-",
  "_",
  ":",
  ";",
  ",",
  "@",
  "=",
  "%",
  "&",
  "?",
  "#",
  '"',
  "'",
  "\\",
  "(",
  "[",
  "{",
  "}",
  "<",
  ">",
  "*",
  "+",
  "!",
  "`",
  "~",
  "é",
  "\u0000",
];
const pairs = ["a", "0", " ", "/", ".", "-", ":", "=", "*", "\n"];

/** Texts of which every part begins a match that the end then denies. */
function* toAttacks({ source }: RegExp, length: number): Generator<string> {
  const words = [
    ...new Set(
      source
        .replaceAll(/\\[bBdDsSwWpu](?:\{[^}]*\})?/g, " ")
        .replaceAll("\\", "")
        .match(/[\w/"<:;{}`*#?&=-]{2,}/g) ?? [],
    ),
  ].slice(0, 6);
  const seeds = [
    ...signs,
    ...pairs.flatMap((one) => pairs.map((two) => one + two)),
    ...words,
    ...words.flatMap((word) => pairs.map((sign) => word + sign)),
  ];
  for (const seed of seeds) {
    const text = seed.repeat(Math.ceil(length / seed.length));
    yield text;
    yield `${text}\u0001`;
  }
  for (const word of words) {
    for (const sign of pairs) {
      yield `${word}${sign.repeat(length)}\u0001`;
    }
  }
}

/** The slowest time of this thread over all attacks, in milliseconds of its processor; what seems slow is tried again. */
function findWorst(regex: RegExp, length: number): number {
  const time = (text: string) => {
    const before = process.threadCpuUsage();
    text.replaceAll(new RegExp(regex.source, [...new Set(`${regex.flags}g`.replace("y", ""))].join("")), "");
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  let worst = 0;
  for (const text of toAttacks(regex, length)) {
    let took = time(text);
    if (took > limit) {
      took = Math.min(took, time(text));
    }
    worst = Math.max(worst, took);
    if (worst > limit) {
      break;
    }
  }
  return worst;
}

const limit = 60;

it("finds the slow ones among these", () => {
  const length = 20_000;
  expect(findWorst(/\/+$/, length)).toBeGreaterThan(limit);
  expect(findWorst(/\beyJ[\w-]{8,}\.[\w-]{4,}/, length)).toBeGreaterThan(limit);
  expect(findWorst(/^(?:a|aa)+$/, 30)).toBeGreaterThan(limit / 60);
  expect(findWorst(/[a-z]+/, length)).toBeLessThan(limit);
});

it("no regular expression takes long for a text that is made to be slow", { timeout: 120_000 }, () => {
  const all = listRegexes();
  expect(all.length).toBeGreaterThan(100);
  const slow = all.filter(({ regex }) => findWorst(regex, 20_000) > limit).map(({ place }) => place);
  expect(slow.filter((place) => !(place in outOfReach))).toEqual([]);
  // An exception whose expression is gone, or is slow no more, has to go too.
  expect(Object.keys(outOfReach).filter((place) => !slow.includes(place))).toEqual([]);
});
