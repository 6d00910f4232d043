// @ts-check
/// <reference path="../../docs/functions.d.ts" />
/*
title: Trim history
description: Keeps system messages and the last turns of long conversations.
version: 1.0.0
license: MIT
*/

// A turn is a question and all that follows it up to the next question: tool calls, their results, the reply. Whole
// turns are kept or left out, so that no tool call is ever cut from its result.

export const meta = { priority: 10 };

/** @satisfies {Millrace.Valves} */
export const valves = {
  turns: { type: "integer", default: 8, minimum: 1, description: "Turns to keep besides system messages" },
  characters: {
    type: "integer",
    default: 0,
    minimum: 0,
    description: "Most characters of the kept turns together, 0 for any number (a token has about four)",
  },
  note: {
    type: "string",
    default: "Earlier messages of this conversation were left out.",
    description: "Told to the model when something was left out; empty for nothing",
  },
};

/** @satisfies {Millrace.Valves} */
export const userValves = {
  turns: { type: "integer", default: 0, minimum: 0, description: "Keep fewer turns; 0 for the usual number" },
};

/** @type {Millrace.Inlet<typeof valves, typeof userValves>} */
export function inlet(body, { valves, userValves }) {
  const turns = toTurns(body.messages);
  const most = userValves.turns > 0 ? Math.min(userValves.turns, valves.turns) : valves.turns;
  const kept = new Set(takeLast(turns, most, valves.characters).flat());
  const messages = body.messages.filter((message) => isSystem(message) || kept.has(message));
  if (messages.length === body.messages.length) {
    return undefined; // Nothing to change: the request stays as it is.
  }
  return { ...body, messages: valves.note === "" ? messages : withNote(messages, valves.note) };
}

/**
 * Many models take one system message only, and only as the first: a present one is made longer.
 * @param {Millrace.Message[]} messages
 * @param {string} note
 * @returns {Millrace.Message[]}
 */
function withNote(messages, note) {
  const [first, ...rest] = messages;
  return first && isSystem(first) && typeof first.content === "string"
    ? [{ ...first, content: `${first.content}\n\n${note}` }, ...rest]
    : [{ role: "system", content: note }, ...messages];
}

/** @param {Millrace.Message} message */
function isSystem({ role }) {
  return role === "system" || role === "developer";
}

/**
 * @param {Millrace.Message[]} messages
 * @returns {Millrace.Message[][]}
 */
function toTurns(messages) {
  /** @type {Millrace.Message[][]} */
  const turns = [];
  for (const message of messages) {
    if (isSystem(message)) {
      continue;
    }
    const last = turns.at(-1);
    if (message.role === "user" || last === undefined) {
      turns.push([message]);
    } else {
      last.push(message);
    }
  }
  return turns;
}

/**
 * The newest turns within both limits. The last one is the question itself and stays whatever its size is.
 * @param {Millrace.Message[][]} turns
 * @param {number} most
 * @param {number} characters
 */
function takeLast(turns, most, characters) {
  const newest = turns.slice(-most);
  if (characters === 0) {
    return newest;
  }
  let left = characters;
  const start = newest.findLastIndex((turn, at) => {
    left -= turn.reduce((sum, message) => sum + sizeOf(message), 0);
    return left < 0 && at < newest.length - 1;
  });
  return newest.slice(start + 1);
}

/** @param {Millrace.Message} message */
function sizeOf({ content, tool_calls: calls }) {
  const text = Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : (content ?? "");
  return text.length + (calls ? JSON.stringify(calls).length : 0);
}
