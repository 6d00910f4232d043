// @ts-check
/// <reference path="../../docs/functions.d.ts" />
/*
title: Glossary
description: Tells the model what the house's own words mean, when they occur in a question.
version: 1.0.0
license: MIT
*/

export const meta = { priority: 20 };

/** @satisfies {Millrace.Valves} */
export const valves = {
  terms: {
    type: "string",
    default: "",
    description:
      "One term a line, with other spellings: `SLA | service level: what we promise our customers`",
  },
  intro: { type: "string", default: "Words as they are used here:", description: "Stands before the terms" },
  most: { type: "integer", default: 20, minimum: 1, description: "Most terms that are told at once" },
};

/** @type {Millrace.Inlet<typeof valves>} */
export function inlet(body, { valves }) {
  const question = toText(body.messages.findLast(({ role }) => role === "user")?.content);
  const found = toEntries(valves.terms)
    .filter(({ pattern }) => pattern.test(question))
    .slice(0, valves.most);
  if (found.length === 0) {
    return undefined;
  }
  const text = [valves.intro, ...found.map(({ name, meaning }) => `- ${name}: ${meaning}`)].join("\n");
  return { ...body, messages: withSystem(body.messages, text) };
}

/**
 * @typedef {{ name: string, meaning: string, pattern: RegExp }} Entry
 * @type {{ terms: string, entries: Entry[] }}
 */
let read = { terms: "", entries: [] };

/**
 * Entries of the valve. They are kept between calls, since valves seldom change: what a module holds lives as long as
 * its isolate is warm, for everybody, so it must never be something of a user.
 * @param {string} terms
 */
function toEntries(terms) {
  if (read.terms !== terms) {
    read = { terms, entries: terms.split("\n").flatMap(toEntry) };
  }
  return read.entries;
}

/**
 * @param {string} line
 * @returns {Entry[]}
 */
function toEntry(line) {
  const colon = line.indexOf(":");
  const spellings = line
    .slice(0, Math.max(colon, 0))
    .split("|")
    .map((each) => each.trim())
    .filter((each) => each !== "");
  const [name] = spellings;
  const meaning = line.slice(colon + 1).trim();
  return name === undefined || meaning === "" ? [] : [{ name, meaning, pattern: toPattern(spellings) }];
}

/**
 * Whole words. An abbreviation in capitals is found in capitals alone: "IT" is not "it".
 * @param {string[]} spellings
 */
function toPattern(spellings) {
  const words = spellings.map((each) => {
    const exact = each.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace(/\s+/g, "\\s+");
    return each === each.toUpperCase() ? exact : `(?i:${exact})`;
  });
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "u");
}

/** @param {Millrace.Message["content"]} content */
function toText(content) {
  return Array.isArray(content) ? content.map((part) => part.text ?? "").join("\n") : (content ?? "");
}

/**
 * Some models take one system message only, so that a present one is made longer.
 * @param {Millrace.Message[]} messages
 * @param {string} text
 * @returns {Millrace.Message[]}
 */
function withSystem(messages, text) {
  const [first, ...rest] = messages;
  return first?.role === "system"
    ? [{ ...first, content: `${toText(first.content)}\n\n${text}` }, ...rest]
    : [{ role: "system", content: text }, ...messages];
}
