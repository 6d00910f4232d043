// @ts-check
/// <reference path="../../docs/functions.d.ts" />
/*
title: Docs guide
description: Answers from your own documentation, with citations.
version: 1.0.0
license: MIT
*/

// The built-in guide as a function of your own: copy it, name your hosts, list your pages. Without a model it shows the
// sections that fit best; with one it lets the model answer from them.

export const meta = {
  // Only hosts that stand here can be reached. Private addresses cannot be reached at all.
  capabilities: { fetch: ["docs.example.com"], complete: true },
};

/** @satisfies {Millrace.Valves} */
export const valves = {
  pages: {
    type: "array",
    items: { type: "string" },
    default: [],
    description: "Addresses of Markdown or text pages",
  },
  text: {
    type: "string",
    default: "# Docs guide\n\nSet the valve `text` to your own Markdown, or list addresses in `pages`.",
    description: "Markdown that is searched besides the pages",
  },
  model: {
    type: "string",
    default: "",
    description: "Id of a model that words the answer; empty for plain excerpts",
  },
  sections: { type: "integer", default: 3, minimum: 1, maximum: 10, description: "Sections in one answer" },
  minutes: { type: "integer", default: 10, minimum: 0, description: "How long a fetched page is kept" },
};

/** @typedef {{ page: string, heading: string, text: string, words: string[] }} Section */

/** @type {Millrace.Pipe<typeof valves>} */
export async function* pipe(body, { valves, host }) {
  const question = toText(body.messages.findLast(({ role }) => role === "user")?.content);
  const pages = await Promise.all(valves.pages.map((url) => load(url, valves.minutes, host)));
  const sections = [...toSections("text", valves.text), ...pages.flat()];
  const found = search(sections, question).slice(0, valves.sections);
  const sources = found.map(toSource);
  if (body.stream !== true) {
    let content = "";
    for await (const piece of answer(found, { body, valves, host })) {
      content += piece;
    }
    yield {
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      sources,
    };
    return;
  }
  // What the answer stands on comes first; the texts after it are made into chunks by the platform.
  yield { choices: [{ index: 0, delta: { role: "assistant", content: "" } }], sources };
  yield* answer(found, { body, valves, host });
}

/**
 * @param {Section[]} found
 * @param {{ body: Millrace.Request, valves: Millrace.ValvesOf<typeof valves>, host: Millrace.Host }} options
 * @returns {AsyncGenerator<string>}
 */
async function* answer(found, { body, valves, host }) {
  if (found.length === 0) {
    yield "I found nothing about that in the documentation.";
    return;
  }
  const excerpts = found.map(({ heading, text }, at) => `**${heading}** [${at + 1}]\n\n${text}`);
  if (valves.model === "") {
    for (const [at, excerpt] of excerpts.entries()) {
      yield* `${at > 0 ? "\n\n" : ""}${excerpt}`.match(/\s+|\S+\s?/g) ?? [];
    }
  } else {
    const task = "Answer from these sections alone and cite them as [1], [2]. Say so when they do not tell.";
    const system = { role: "system", content: `${task}\n\n${excerpts.join("\n\n")}` };
    const messages = [system, ...body.messages.filter(({ role }) => role !== "system")];
    for await (const chunk of await host.complete({ model: valves.model, messages, stream: true })) {
      yield chunk.choices?.[0]?.delta?.content ?? "";
    }
  }
  yield `\n\n${found.map(({ page }, at) => `[${at + 1}] ${page}`).join("  \n")}`;
}

/**
 * Pages are the same for everybody, so that a warm module may keep them.
 * @type {Map<string, { until: number, sections: Section[] }>}
 */
const kept = new Map();

/**
 * A page that does not come is left out, or shown as it was.
 * @param {string} url
 * @param {number} minutes
 * @param {Millrace.Host} host
 */
async function load(url, minutes, host) {
  const before = kept.get(url);
  if (before && before.until > Date.now()) {
    return before.sections;
  }
  try {
    const page = await host.fetch(url, { headers: { accept: "text/markdown, text/plain" } });
    if (!page.ok) {
      throw new Error(`status ${page.status}`);
    }
    const sections = toSections(url, page.body);
    kept.set(url, { until: Date.now() + minutes * 60_000, sections });
    return sections;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await host.log("warn", `${url} could not be read: ${reason}`);
    return before?.sections ?? [];
  }
}

/**
 * Splits Markdown at its headings; lines with # inside fenced code are code.
 * @param {string} page
 * @param {string} markdown
 * @returns {Section[]}
 */
function toSections(page, markdown) {
  /** @type {{ heading: string, lines: string[] }[]} */
  const parts = [{ heading: page, lines: [] }];
  let isCode = false;
  for (const line of markdown.split("\n")) {
    isCode = /^\s*(```|~~~)/.test(line) ? !isCode : isCode;
    const heading = isCode ? undefined : /^#{1,4} +(.+)$/.exec(line)?.[1];
    if (heading) {
      parts.push({ heading, lines: [] });
    } else {
      parts.at(-1)?.lines.push(line);
    }
  }
  return parts
    .map(({ heading, lines }) => ({ page, heading, text: lines.join("\n").trim() }))
    .filter(({ text }) => text !== "")
    .map((part) => ({ ...part, words: toWords(`${`${part.heading} `.repeat(3)}${part.text}`) }));
}

/**
 * Sections that hold words of the question, best first: a word counts the more, the fewer sections have it and the
 * more often it occurs in a short one.
 * @param {Section[]} sections
 * @param {string} question
 */
function search(sections, question) {
  const usual = sections.reduce((sum, { words }) => sum + words.length, 0) / Math.max(1, sections.length);
  const asked = [...new Set(toWords(question))].map((word) => {
    const count = sections.filter(({ words }) => words.includes(word)).length;
    return { word, weight: Math.log(1 + (sections.length - count + 0.5) / (count + 0.5)) };
  });
  const toScore = (/** @type {Section} */ { words }) =>
    asked.reduce((score, { word, weight }) => {
      const times = words.filter((each) => each === word).length;
      return score + (weight * times * 2.2) / (times + 0.3 + (0.9 * words.length) / usual);
    }, 0);
  return sections
    .map((section) => ({ section, score: toScore(section) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ section }) => section);
}

const fillers =
  "and are but can does for from has have how its not our the this that was what when where which who why will with you";
const empty = new Set(fillers.split(" "));

/**
 * Words of three letters and more that say something, without the plural's s.
 * @param {string} text
 */
function toWords(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  return words.filter((word) => !empty.has(word)).map((word) => word.replace(/(?<=\w{3})s$/, ""));
}

/** @param {Section} section */
function toSource({ page, heading, text }) {
  const name = `${page} › ${heading}`;
  return { source: { id: name, name }, document: [text], metadata: [{ source: page, name }] };
}

/** @param {Millrace.Message["content"]} content */
function toText(content) {
  return Array.isArray(content) ? content.map((part) => part.text ?? "").join("\n") : (content ?? "");
}
