import type { ServerResponse } from "node:http";
import type { NodeHandler } from "./http/application.ts";

/** The requests that are being answered: a stop waits for them. */
export interface OpenRequests {
  /** Counts every request `handler` gets until its response has closed. */
  track(handler: NodeHandler): NodeHandler;
  /** From now on answers ask the client to close its connection. */
  closeConnections(): void;
  /** Resolves to true when none is left, or to false after `ms`. */
  drained(ms: number): Promise<boolean>;
  count(): number;
}

export function createOpenRequests(): OpenRequests {
  const open = new Set<ServerResponse>();
  let isClosing = false;
  let wake: (() => void) | undefined;
  return {
    track: (handler) => (req, res) => {
      open.add(res);
      if (isClosing) {
        res.setHeader("connection", "close");
      }
      res.once("close", () => {
        open.delete(res);
        if (open.size === 0) {
          wake?.();
        }
      });
      return handler(req, res);
    },
    closeConnections() {
      isClosing = true;
    },
    count: () => open.size,
    async drained(ms) {
      if (open.size === 0) {
        return true;
      }
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), ms);
      });
      const empty = new Promise<boolean>((resolve) => {
        wake = () => resolve(true);
      });
      const result = await Promise.race([empty, timeout]);
      clearTimeout(timer);
      return result;
    },
  };
}
