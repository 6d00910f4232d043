/** A commented function to begin with. */
export interface Template {
  readonly id: string;
  readonly name: string;
  readonly type: "filter" | "pipe" | "action";
  readonly text: string;
}

const files = import.meta.glob<string>("../../../../examples/functions/*.js", {
  query: "?raw",
  import: "default",
});

/** The examples of the project, the ones that most people need first. */
export const templates: readonly Template[] = [
  {
    id: "mask_personal_data",
    name: "Mask personal data",
    type: "filter",
    text: "Models see placeholders in place of e-mail addresses, phone numbers, IBANs and card numbers.",
  },
  {
    id: "trim_history",
    name: "Trim history",
    type: "filter",
    text: "Sends only the last turns of long conversations.",
  },
  {
    id: "glossary",
    name: "Glossary",
    type: "filter",
    text: "Explains words of your house to the model when they occur.",
  },
  {
    id: "rate_limit",
    name: "Rate limit",
    type: "filter",
    text: "Lets each person ask so many questions an hour.",
  },
  {
    id: "router",
    name: "Router",
    type: "pipe",
    text: "A model that sends each question to a suitable other one.",
  },
  {
    id: "docs_guide",
    name: "Docs guide",
    type: "pipe",
    text: "A model that answers from pages that it fetches, with citations.",
  },
  { id: "translate", name: "Translate", type: "action", text: "A button that translates a message." },
];

/** The code of a template, without the lines that point editors to a file of types. */
export async function readTemplate(id: string): Promise<string | undefined> {
  const load = files[`../../../../examples/functions/${id}.js`];
  const text = await load?.();
  return text?.replace(/^\/\/ @ts-check\n/, "").replace(/^\/\/\/ <reference path="[^"]*" \/>\n/, "");
}

/** A filter with all hooks that does nothing yet. */
export const blank = `/*
description: What this function does, in one sentence
*/
export const meta = { priority: 0 };

/** @satisfies {Millrace.Valves} */
export const valves = {};

/** @type {Millrace.Inlet<typeof valves>} */
export function inlet(body, ctx) {
  return body;
}

/** @type {Millrace.Outlet<typeof valves>} */
export function outlet(conversation, ctx) {
  return conversation;
}
`;
