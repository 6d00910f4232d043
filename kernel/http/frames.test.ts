import { once } from "node:events";
import { createServer, get, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, it } from "vitest";
import type { Pushable } from "#kernel/completion/push.ts";
import type { RespondContext } from "./head.ts";
import { respond } from "./respond.ts";
import { Stream } from "./route.ts";

let server: Server;

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

/** Frames without an end that tell when they are given up. */
async function* pulled(left: () => void) {
  try {
    for (;;) {
      yield "data: more\n\n";
    }
  } finally {
    left();
  }
}

function pushed(left: () => void): Pushable<string> {
  return Object.assign(
    pulled(() => {}),
    { pushTo: () => ({ resume() {}, abort: left }) },
  );
}

it.each([
  ["pulled", pulled],
  ["pushed", pushed],
])("frames that are %s are given up when their reader left before they were begun", async (_how, make) => {
  const left = Promise.withResolvers<void>();
  server = createServer((_request, response) => {
    response.once("close", () => {
      const context = { head: {}, started: 0, failed: left.reject } as unknown as RespondContext;
      void respond(response, new Stream(make(left.resolve)), context);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const asked = get({ port, host: "127.0.0.1" }).on("error", () => {});
  await once(server, "request");
  asked.destroy();
  await left.promise;
});
