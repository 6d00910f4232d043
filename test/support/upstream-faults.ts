import { gzipSync } from "node:zlib";
import { transferChunk } from "./upstream-http.ts";
import { body } from "./upstream-scripts.ts";
import type { Exchange, Script } from "./upstream-exchange.ts";

/** Reads the request and never answers. */
export function silence(): Script {
  return (exchange) => exchange.hold();
}

/** Waits before the head, then goes on with `script`. */
export function slowHead(ms: number, script: Script): Script {
  return async (exchange) => {
    await exchange.wait(ms);
    await script(exchange);
  };
}

/** Lets `bytes` of the body through (its transfer coding counts), then resets the connection. */
export function resetAfter(bytes: number, script: Script): Script {
  return cutAfter(bytes, script, async (exchange) => exchange.reset());
}

/** Lets `bytes` of the body through, then closes the connection in the middle of it. */
export function closeAfter(bytes: number, script: Script): Script {
  return cutAfter(bytes, script, async (exchange) => exchange.end());
}

/** Lets `bytes` of the body through, then keeps the connection open and says no more. */
export function stallAfter(bytes: number, script: Script): Script {
  return cutAfter(bytes, script, (exchange) => exchange.hold());
}

/** A page of HTML with status 200, as a captive portal or a wrong base address answers. */
export function html(status = 200): Script {
  return body("<!doctype html><html><title>Welcome</title><body>Please sign in</body></html>", {
    status,
    headers: { "content-type": "text/html; charset=utf-8" },
  });
}

/** A stream whose only line is `bytes` long and never ends; the connection stays open behind it. */
export function endlessLine(bytes: number): Script {
  return async (exchange) => {
    await exchange.start(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" });
    await exchange.write(transferChunk('data: {"choices":[{"index":0,"delta":{"content":"'));
    const piece = transferChunk("x".repeat(65_536));
    for (let sent = 0; sent < bytes && !exchange.gone.aborted; sent += 65_536) {
      await exchange.write(piece);
    }
    await exchange.hold();
  };
}

/** A compressed answer that grows to `inflated` bytes: a JSON text, or an event stream when `type` says so. */
export function gzipBomb(inflated: number, type = "application/json"): Script {
  const bomb = gzipSync(Buffer.alloc(inflated, " "), { level: 9 });
  return body(bomb, { headers: { "content-type": type, "content-encoding": "gzip" } });
}

function cutAfter(limit: number, script: Script, cut: (exchange: Exchange) => Promise<void>): Script {
  return async (exchange) => {
    let left = limit;
    let isCut = false;
    const write = async (data: string | Uint8Array) => {
      if (isCut) {
        return;
      }
      const bytes = Buffer.from(data as string);
      await exchange.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) {
        isCut = true;
        await cut(exchange);
      }
    };
    await script({ ...exchange, write });
  };
}
