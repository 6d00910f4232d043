import type { AddressInfo, LookupFunction } from "node:net";
import { createServer } from "node:net";
import { once } from "node:events";
import { lookup } from "node:dns";
import { describe, expect, it } from "vitest";
import { createConnector } from "./connector.ts";
import { toEgressError } from "./failure.ts";

const tls = { ssl: true, caFile: "", fingerprint: "" };

/** Connects once; resolves with what went wrong, or undefined. */
function connect(target: { hostname: string; port: string }, isChecked: boolean, resolver: LookupFunction) {
  const connector = createConnector({ isChecked, tls, lookup: resolver, connectTimeoutMs: 40 });
  return new Promise<Error | undefined>((resolve) =>
    connector({ ...target, host: target.hostname, protocol: "http:" }, (error, socket) => {
      socket?.destroy();
      resolve(error ?? undefined);
    }),
  );
}

describe("createConnector", () => {
  it("gives up a connection that takes too long", async () => {
    const error = await connect({ hostname: "stuck.test", port: "80" }, true, () => {});
    expect(toEgressError(error)).toMatchObject({ code: "timeout" });
  });

  it("hands on that a name is unknown, and refuses one without addresses", async () => {
    const unknown = Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    const target = { hostname: "nowhere.test", port: "80" };
    expect(await connect(target, true, (_name, _options, callback) => callback(unknown, ""))).toBe(unknown);
    const empty = await connect(target, true, (_name, _options, callback) => callback(null, []));
    expect(empty).toMatchObject({ code: "forbidden" });
  });

  it("reaches a private address only when it need not check", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const target = { hostname: "localhost", port: String((server.address() as AddressInfo).port) };
    expect(await connect(target, false, lookup as LookupFunction)).toBeUndefined();
    expect(await connect(target, true, lookup as LookupFunction)).toMatchObject({ code: "forbidden" });
    server.close();
    await once(server, "close");
  });
});
