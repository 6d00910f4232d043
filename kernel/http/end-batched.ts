import type { ServerResponse } from "node:http";

interface Leaving {
  readonly response: ServerResponse;
  readonly body: string | Buffer | undefined;
}

/** Answers that wait for the end of the turn; more than these leave at once, so that none waits long. */
const most = 16;

let waiting: Leaving[] = [];

/**
 * Ends answers that are complete, those of one turn of the event loop one right after the other. Written in between the
 * work of other requests, each would wake its reader and the network's code anew, which costs as much as the writing.
 */
export function endBatched(response: ServerResponse, body: string | Buffer | undefined): void {
  const count = waiting.push({ response, body });
  if (count === 1) {
    setImmediate(endAll);
  } else if (count === most) {
    endAll();
  }
}

function endAll(): void {
  const all = waiting;
  waiting = [];
  for (const { response, body } of all) {
    response.end(body);
  }
}
