import { finished, type Readable } from "node:stream";

const maxDrained = 32 * 1024 * 1024;
const maxDrainMs = 20_000;

/**
 * Reads a refused body on and forgets it, so that its sender gets to see the answer; beyond these limits the line is cut.
 * Resolves when the body has ended, whichever way.
 */
export function drain(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    let drained = 0;
    const timer = setTimeout(() => body.destroy(), maxDrainMs);
    const count = (piece: Buffer) => {
      drained += piece.length;
      if (drained > maxDrained) {
        body.destroy();
      }
    };
    finished(body, { writable: false }, () => {
      clearTimeout(timer);
      body.off("data", count);
      resolve();
    });
    body.on("data", count);
    body.resume();
  });
}
