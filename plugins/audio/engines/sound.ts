import { raiseNamed } from "#kernel/upstream/engine-call.ts";
import type { Sound } from "../service.ts";

/** An engine's answer as sound; failures on its way name the engine. Leaving early closes the connection. */
export function toSound(response: Response, title: string): Sound {
  return { type: response.headers.get("content-type") ?? "", bytes: readBody(response, title) };
}

async function* readBody(response: Response, title: string): AsyncGenerator<Uint8Array> {
  try {
    yield* response.body ?? [];
  } catch (error) {
    raiseNamed(title, error);
  }
}
