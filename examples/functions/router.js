// @ts-check
/// <reference path="../../docs/functions.d.ts" />
/*
title: Router
description: One model in front of two: simple questions go to the small one, the rest to the large one.
version: 1.0.0
license: MIT
*/

export const meta = { capabilities: { complete: true } };

/** @satisfies {Millrace.Valves} */
export const valves = {
  small: {
    type: "string",
    default: "",
    title: "Small model",
    description: "Id of the model for simple questions",
  },
  large: { type: "string", default: "", title: "Large model", description: "Id of the model for all others" },
  characters: {
    type: "integer",
    default: 400,
    minimum: 1,
    description: "A longer conversation is not simple",
  },
  hard: {
    type: "string",
    default: "prove, derive, analyse, analyze, compare, refactor, debug, code, function, step by step",
    description: "A question with one of these is not simple, separated by commas",
  },
};

/**
 * A generator is streamed: each chunk goes out as soon as it is yielded.
 * @type {Millrace.Pipe<typeof valves>}
 */
export async function* pipe(body, { valves, host }) {
  const { small, large } = valves;
  if (small === "" || large === "") {
    throw new Error("The router has no models yet: an administrator sets the valves small and large.");
  }
  const [first, second] = isSimple(body, valves) ? [small, large] : [large, small];
  let hasBegun = false;
  try {
    for await (const part of ask(host, { ...body, model: first })) {
      hasBegun = true;
      yield part;
    }
    return;
  } catch (error) {
    // Once something was said, another model cannot go on with the sentence.
    if (hasBegun) {
      throw error;
    }
    const reason = error instanceof Error ? error.message : String(error);
    await host.log("warn", `${first} failed, ${second} is asked: ${reason}`);
  }
  yield* ask(host, { ...body, model: second });
}

/**
 * The model is asked as the caller: one that the caller may not use is refused, and the other answers.
 * @param {Millrace.Host} host
 * @param {Millrace.Request} request
 */
async function* ask(host, request) {
  if (request.stream === true) {
    yield* await host.complete({ ...request, stream: true });
  } else {
    yield await host.complete({ ...request, stream: false });
  }
}

/**
 * @param {Millrace.Request} request
 * @param {Millrace.ValvesOf<typeof valves>} valves
 */
function isSimple({ messages, tools }, { characters, hard }) {
  const texts = messages.filter(({ role }) => role !== "system").map(({ content }) => content);
  // Pictures and tools ask for more than a small model usually can.
  if ((tools?.length ?? 0) > 0 || texts.some((text) => Array.isArray(text))) {
    return false;
  }
  const question = String(texts.at(-1) ?? "").toLowerCase();
  const words = hard
    .split(",")
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== "");
  const length = texts.reduce((sum, text) => sum + String(text ?? "").length, 0);
  return length <= characters && !words.some((word) => question.includes(word));
}
