import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const quoted = String.raw`"((?:[^"\\\n]|\\.)*)"`;
const asked = new RegExp(String.raw`\bt\(\s*${quoted}`, "g");
const counted = new RegExp(String.raw`\bplural\(\s*[^"]*?,\s*${quoted},\s*${quoted}`, "g");
/** What plugins say of themselves: the page of plugins shows it. */
const summarized = new RegExp(String.raw`\btitle: ${quoted},\s*summary:\s*${quoted}`, "g");
/** What jobs say of themselves: the page of jobs shows it. */
const jobTitled = new RegExp(
  String.raw`\btitle: ${quoted},\s*(?:every|retries|expiresIn|concurrency)\b`,
  "g",
);
const titled = new RegExp(String.raw`\bpath: ${quoted},\s*title: ${quoted}`, "g");

interface Owner {
  readonly name: string;
  readonly locale: string;
  readonly sources: readonly string[];
  /** Where the titles of its pages are declared. */
  readonly declaration?: string;
  /** Declarations of plugins whose summaries it shows. */
  readonly summaries?: readonly string[];
  /** Sources that declare jobs whose titles it shows. */
  readonly jobs?: readonly string[];
}

function read(pattern: string): string[] {
  return globSync(pattern, { cwd: root })
    .filter((file) => !/\.test\.|\bdist\b|node_modules/.test(file))
    .map((file) => readFileSync(join(root, file), "utf8").replaceAll(/^\s*(\/\/|\/?\*).*$/gm, ""));
}

const owners: readonly Owner[] = [
  { name: "web", locale: "web/kit/locales/de.json", sources: read("web/{kit,shell}/**/*.{ts,svelte}") },
  ...globSync("*/web/index.ts", { cwd: root }).map((index) => {
    const name = index.split(/[\\/]/)[0] as string;
    return {
      name,
      locale: `${name}/web/locales/de.json`,
      sources: read(`${name}/web/**/*.{ts,svelte}`),
      declaration: `${name}/plugin.ts`,
      summaries: name === "operations" ? read("*/plugin.ts") : [],
      jobs: name === "operations" ? [...read("*/**/*.ts"), ...read("../kernel/housekeeping.ts")] : [],
    };
  }),
];

/** Texts that are shown: those handed to `t` and `plural`, and the titles of the pages. */
function shownTexts({ sources, declaration, summaries = [], jobs = [] }: Owner): Set<string> {
  const code = sources.join("\n");
  const texts = [
    ...[...code.matchAll(asked)].map(([, text]) => text),
    ...[...code.matchAll(counted)].map(([, , other]) => other),
    ...(declaration ? [...readFileSync(join(root, declaration), "utf8").matchAll(titled)] : []).map(
      ([, , title]) => title,
    ),
    ...[...jobs.join("\n").matchAll(jobTitled)].map(([, title]) => title),
    ...[...summaries.join("\n").matchAll(summarized)].flatMap(([, title, summary]) => [title, summary]),
  ];
  return new Set(texts.map((text) => JSON.parse(`"${text}"`) as string));
}

/** “Sie” and “Ihr” within a sentence, where those of others are small; “Ihnen” begins no sentence here. */
const formalWithin = /(?<!^|[.:!?…]\s|„)\b(?:Sie|Ihr(?:e[mnrs]?)?)\b|\bIhnen\b/;
const formal = /\b(?:Sie|Ihr(?:e[mnrs]?)?|Ihnen)\b/;
const informal = /\b(?:du|dich|dir|dein(?:e[mnrs]?)?)\b/i;

/** At the beginning of a sentence the English tells whether “Sie” is the reader: it says “you” then. */
function isFormal(english: string, german: string): boolean {
  return (
    formalWithin.test(german) ||
    (/\byou(?:rs?)?\b/i.test(english) && formal.test(german) && !informal.test(german))
  );
}

it("addresses the reader as “du” in every German text", () => {
  const files = globSync("**/web/**/de.json", { cwd: root }).filter(
    (file) => !/\bdist\b|node_modules/.test(file),
  );
  expect(files.length).toBeGreaterThan(owners.length / 2);
  const offending = files.flatMap((file) => {
    const entries = JSON.parse(readFileSync(join(root, file), "utf8")) as Record<string, unknown>;
    return Object.entries(entries).flatMap(([english, entry]) =>
      (typeof entry === "string" ? [entry] : Object.values(entry as Record<string, string>))
        .filter((german) => isFormal(english, german))
        .map((german) => `${file}: ${german}`),
    );
  });
  expect(offending, offending.join("\n")).toEqual([]);
});

/** All files become one list in the browser: a text that two plugins mean differently needs two keys. */
it("gives every English text one German text", () => {
  const german = new Map<string, Set<string>>();
  for (const file of globSync("{*/web,web/kit}/locales/de.json", { cwd: root })) {
    const entries = JSON.parse(readFileSync(join(root, file), "utf8")) as Record<string, unknown>;
    for (const [english, entry] of Object.entries(entries)) {
      german.set(english, (german.get(english) ?? new Set()).add(JSON.stringify(entry)));
    }
  }
  const unlike = [...german].filter(([, texts]) => texts.size > 1);
  expect(unlike.map(([english, texts]) => `${english}: ${[...texts].join(", ")}`)).toEqual([]);
});

it("gives every counted German text its singular", () => {
  const texts = owners.flatMap(({ sources }) => [...sources.join("\n").matchAll(counted)]);
  const others = new Set(texts.map(([, , other]) => JSON.parse(`"${other}"`) as string));
  const plain = owners.flatMap(({ locale }) => {
    const file = join(root, locale);
    const entries = existsSync(file)
      ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>)
      : {};
    return Object.entries(entries).filter(([key, entry]) => others.has(key) && typeof entry === "string");
  });
  expect(plain.map(([key]) => key)).toEqual([]);
});

describe.each(owners.map((owner) => [owner.name, owner] as const))("the German of %s", (_name, owner) => {
  const file = join(root, owner.locale);
  const entries = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>) : {};

  it("has every text that is shown", () => {
    expect([...shownTexts(owner)].filter((text) => !(text in entries))).toEqual([]);
  });

  it("has no text that is left over", () => {
    // Texts that reach `t` in a variable stand in the sources as they are, those of the server's refusals included.
    const code = [...owner.sources, ...read(`${owner.name}/**/*.ts`)].join("\n");
    const shown = shownTexts(owner);
    const isThere = (text: string) => shown.has(text) || code.includes(JSON.stringify(text));
    expect(Object.keys(entries).filter((text) => !isThere(text))).toEqual([]);
  });

  it("keeps what is filled in", () => {
    const holes = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([hole]) => hole).toSorted();
    const broken = Object.entries(entries).filter(([key, entry]) => {
      const texts = typeof entry === "string" ? [entry] : [(entry as { other: string }).other];
      return texts.some((text) => holes(text).join(" ") !== holes(key).join(" "));
    });
    expect(broken).toEqual([]);
  });
});
