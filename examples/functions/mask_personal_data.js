// @ts-check
/// <reference path="../../docs/functions.d.ts" />
/*
title: Mask personal data
description: Models see placeholders in place of e-mail addresses, phone numbers, IBANs and card numbers.
version: 1.0.0
license: MIT
*/

// inlet replaces, stream and outlet put back. What stands for what belongs to one run: inlet hands it to the other
// hooks in `metadata`, which never leaves the platform. Nothing is stored, nothing is shared between two people.
// Not masked: pictures, attached files, names. Look at `kinds` to add a pattern.
//
// An answer that is not streamed has left before outlet runs, so it shows the placeholders. Clients that want the
// originals send the conversation to POST /api/chat/completed, or stream.

// First in line: other filters and the models that they ask see placeholders, too. So do those that find titles.
export const meta = { priority: -100, tasks: true };

/** @satisfies {Millrace.Valves} */
export const valves = {
  emails: { type: "boolean", default: true },
  ibans: { type: "boolean", default: true },
  cards: { type: "boolean", default: true },
  phones: { type: "boolean", default: true },
  hint: {
    type: "string",
    default: "Texts such as [EMAIL_1] stand for real data. Repeat them exactly as they are.",
    description: "Told to the model when something was masked; empty for nothing",
  },
};

// A bounded length for everything that repeats: patterns run on texts of strangers.
/** @type {{ name: string, valve: keyof typeof valves, pattern: RegExp, isReal(found: string): boolean }[]} */
const kinds = [
  {
    name: "EMAIL",
    valve: "emails",
    pattern: /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/gu,
    isReal: () => true,
  },
  {
    name: "IBAN",
    valve: "ibans",
    pattern: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g,
    isReal: hasIbanSum,
  },
  { name: "CARD", valve: "cards", pattern: /(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])/g, isReal: hasLuhnSum },
  {
    name: "PHONE",
    valve: "phones",
    // +49 170 1234567, 0049 30 123456, (555) 123-4567, 030/123 45 67
    pattern:
      /(?<![\w+./-])(?:(?:\+|00)\d[\d ()./-]{5,20}\d|\(\d{2,5}\) ?\d[\d -]{4,12}\d|0?\d{2,4}[ /-]\d{3}[\d -]{2,10}\d)(?!\w)/g,
    isReal: (found) => found.replace(/\D/g, "").length >= 8 && found.replace(/\D/g, "").length <= 15,
  },
];

/** @type {Millrace.Inlet<typeof valves>} */
export function inlet(body, { valves }) {
  const vault = createVault(body.messages, valves);
  const messages = maskAll(body.messages, vault);
  const isMasked = Object.keys(vault.originals).length > 0;
  const [first] = messages;
  if (isMasked && valves.hint !== "" && first?.role === "system" && typeof first.content === "string") {
    first.content += `\n\n${valves.hint}`; // Many models take one system message only.
  } else if (isMasked && valves.hint !== "") {
    messages.unshift({ role: "system", content: valves.hint });
  }
  return { ...body, messages, metadata: { ...body.metadata, masked: vault.originals } };
}

/**
 * What each run holds back: the begin of a placeholder whose end has not come yet. `ctx` is one object for all chunks
 * of a run, and each run has its own.
 * @type {WeakMap<object, { originals: Originals, isIdle: boolean, held: Map<number, Map<string | number, string>> }>}
 */
const runs = new WeakMap();

/** @type {Millrace.Stream<typeof valves>} */
export function stream(chunk, ctx) {
  let run = runs.get(ctx);
  if (run === undefined) {
    const originals = /** @type {Originals} */ (ctx.metadata.masked ?? {});
    run = { originals, isIdle: Object.keys(originals).length === 0, held: new Map() };
    runs.set(ctx, run);
  }
  if (run.isIdle) {
    return undefined;
  }
  for (const choice of chunk.choices ?? []) {
    const held = run.held.get(choice.index) ?? new Map();
    run.held.set(choice.index, held);
    restoreChoice(choice, held, run.originals);
  }
  return chunk;
}

/** @type {Millrace.Outlet<typeof valves>} */
export function outlet(conversation, { metadata, valves }) {
  // POST /api/chat/completed has no run behind it, but it brings the questions along: masked again, they give the same.
  const known = /** @type {Originals | undefined} */ (metadata.masked);
  const originals = known ?? maskedOf(conversation.messages, valves);
  const put = (/** @type {string} */ text) => restore(text, originals);
  return { ...conversation, messages: conversation.messages.map((message) => mapTexts(message, put)) };
}

/**
 * @typedef {Record<string, string>} Originals By placeholder.
 * @typedef {Millrace.ValvesOf<typeof valves>} Values
 * @typedef {{ originals: Originals, mask(text: string): string }} Vault
 */

/**
 * Numbers what it finds, each value once. Placeholders that somebody wrote literally are not used.
 * @param {Millrace.Message[]} messages
 * @param {Values} valves
 * @returns {Vault}
 */
function createVault(messages, valves) {
  const written = messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => JSON.stringify(content));
  /** @type {Originals} */
  const originals = {};
  /** @type {Map<string, string>} */
  const placeholders = new Map();
  /** @type {Record<string, number>} */
  const counts = {};
  const toPlaceholder = (/** @type {string} */ name, /** @type {string} */ value) => {
    let placeholder = placeholders.get(value);
    while (placeholder === undefined) {
      counts[name] = (counts[name] ?? 0) + 1;
      const next = `[${name}_${counts[name]}]`;
      placeholder = written.some((text) => text?.includes(next)) ? undefined : next;
    }
    placeholders.set(value, placeholder);
    originals[placeholder] = value;
    return placeholder;
  };
  return {
    originals,
    mask(text) {
      let masked = text;
      for (const { name, valve, pattern, isReal } of kinds) {
        if (valves[valve]) {
          masked = masked.replace(pattern, (found) => (isReal(found) ? toPlaceholder(name, found) : found));
        }
      }
      return masked;
    },
  };
}

/**
 * System messages come last: clients do not know those that the platform adds, and numbers must not depend on them.
 * @param {Millrace.Message[]} messages
 * @param {Vault} vault
 */
function maskAll(messages, vault) {
  const order = messages.toSorted((a, b) => Number(a.role === "system") - Number(b.role === "system"));
  const masked = new Map(order.map((message) => [message, mapTexts(message, vault.mask)]));
  return messages.map((message) => masked.get(message) ?? message);
}

/**
 * @param {Millrace.Message[]} messages
 * @param {Values} valves
 */
function maskedOf(messages, valves) {
  const vault = createVault(messages, valves);
  maskAll(messages, vault);
  return vault.originals;
}

/**
 * Changes all texts of a message: content, parts of content, arguments of tool calls.
 * @template {Millrace.Message} M
 * @param {M} message
 * @param {(text: string) => string} change
 * @returns {M}
 */
function mapTexts(message, change) {
  const { content, tool_calls: calls } = message;
  const toPart = (/** @type {Millrace.ContentPart} */ part) =>
    typeof part.text === "string" ? { ...part, text: change(part.text) } : part;
  const toCall = (/** @type {Millrace.ToolCall} */ call) => ({
    ...call,
    function: { ...call.function, arguments: change(call.function.arguments) },
  });
  return {
    ...message,
    ...(typeof content === "string" && { content: change(content) }),
    ...(Array.isArray(content) && { content: content.map(toPart) }),
    ...(calls && { tool_calls: calls.map(toCall) }),
  };
}

const fields = /** @type {const} */ (["content", "reasoning_content", "reasoning"]);

/**
 * Puts originals into one chunk. A text that ends within a placeholder is held back until the rest has come.
 * @param {Millrace.ChunkChoice} choice
 * @param {Map<string | number, string>} held By field, by index for the arguments of tool calls.
 * @param {Originals} originals
 */
function restoreChoice(choice, held, originals) {
  const delta = (choice.delta ??= {});
  const pass = (/** @type {string | number} */ key, /** @type {string} */ text) => {
    const whole = (held.get(key) ?? "") + text;
    const cut = toCut(whole, originals);
    held.set(key, whole.slice(cut));
    return restore(whole.slice(0, cut), originals);
  };
  for (const field of fields) {
    const text = delta[field];
    if (text) {
      delta[field] = pass(field, text);
    }
  }
  for (const call of delta.tool_calls ?? []) {
    if (call.function?.arguments) {
      call.function.arguments = pass(call.index, call.function.arguments);
    }
  }
  if (choice.finish_reason) {
    release(delta, held);
  }
}

/**
 * At the end there is no rest to wait for.
 * @param {Millrace.Delta} delta
 * @param {Map<string | number, string>} held
 */
function release(delta, held) {
  for (const [key, text] of held) {
    const field = fields.find((name) => name === key);
    if (text !== "" && field) {
      delta[field] = (delta[field] ?? "") + text;
    } else if (text !== "") {
      (delta.tool_calls ??= []).push({ index: Number(key), function: { arguments: text } });
    }
  }
  held.clear();
}

/**
 * Where a placeholder begins that the text does not end; the text's length when there is none.
 * @param {string} text
 * @param {Originals} originals
 */
function toCut(text, originals) {
  const at = text.lastIndexOf("[");
  const tail = text.slice(at);
  const isOpen = at >= 0 && Object.keys(originals).some((each) => each !== tail && each.startsWith(tail));
  return isOpen ? at : text.length;
}

/**
 * @param {string} text
 * @param {Originals} originals
 */
function restore(text, originals) {
  return text.replace(/\[[A-Z]+_\d+\]/g, (found) =>
    Object.hasOwn(originals, found) ? (originals[found] ?? found) : found,
  );
}

/** @param {string} text */
function hasIbanSum(text) {
  const iban = text.replaceAll(" ", "");
  const digits = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  let rest = 0;
  for (const digit of digits) {
    rest = (rest * 10 + Number(digit)) % 97;
  }
  return iban.length <= 34 && rest === 1;
}

/** @param {string} text */
function hasLuhnSum(text) {
  const digits = text.replace(/\D/g, "").split("").toReversed().map(Number);
  const sum = digits.reduce(
    (all, digit, at) => all + (at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2),
    0,
  );
  return sum % 10 === 0;
}
