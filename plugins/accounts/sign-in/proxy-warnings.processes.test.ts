import { expect, it } from "vitest";
import { prepareTestDataDir } from "#storage/testing.ts";
import { startProcess } from "#test/support/process.ts";
import { findProxyWarnings } from "./proxy-warnings.ts";

it.each([
  [["*"], "127.0.0.1", false, []],
  [["*"], "127.1.2.3", false, []],
  [["*"], "::1", false, []],
  [["*"], "localhost", false, []],
  [["*"], "0.0.0.0", false, [/FORWARDED_ALLOW_IPS is \* and HOST is 0\.0\.0\.0/]],
  [["10.0.0.1", "*"], "::", false, [/HOST is ::/]],
  [["10.0.0.1"], "0.0.0.0", true, []],
  [[], "0.0.0.0", false, []],
  [["*"], "127.0.0.1", true, [/TRUSTED_EMAIL_HEADER/]],
  [["*"], "chat.example", true, [/TRUSTED_EMAIL_HEADER/, /HOST is chat\.example/]],
])("proxies %j at %s, headers trusted: %s", (proxies, host, trustsHeaders, expected) => {
  expect(findProxyWarnings({ proxies, host, trustsHeaders })).toEqual(
    expected.map((part) => expect.stringMatching(part)),
  );
});

it("is logged by a start that is open to the network", { timeout: 60_000 }, async () => {
  const place = await prepareTestDataDir({}, "server");
  const server = await startProcess({ ...place.env, HOST: "0.0.0.0" });
  expect(server.output()).toContain("FORWARDED_ALLOW_IPS is * and HOST is 0.0.0.0");
  await server.stop();
  await place.remove();
});
