import { createHash, generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";
import { issuerKey, licenseKey, toKeyText, toLicense } from "./license.fixture.ts";
import { readLicense } from "./license.ts";

// Configuration document: LICENSE_KEY, LICENSE_BLOB_PATH, LICENSE_PUBLIC_KEY.

const warn = vi.fn();
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(folders.splice(0).map(removeTestFolder));
  vi.useRealTimers();
});

async function read(file: string | undefined, inputs: { key?: string; publicKey?: string } = {}) {
  const folder = await createTestFolder(file === undefined ? {} : { "l.data": file });
  folders.push(folder);
  const path = join(folder, "l.data");
  return await readLicense({ key: licenseKey, publicKey: issuerKey, ...inputs, path }, { warn });
}

test("a license is opened by its key and checked against the public key", async () => {
  const file = toLicense({ name: "River Ltd", count: 25, exp: "2999-12-31", metadata: { any: 1 } });
  const report = (await read(file))();
  expect(report).toEqual({
    state: "valid",
    reason: null,
    key_hint: "…wxyz",
    file: { path: expect.stringContaining("l.data"), bytes: file.length },
    public_key: createHash("sha256").update(Buffer.from(issuerKey, "base64")).digest("hex"),
    licensee: "River Ltd",
    seats: 25,
    expires: "2999-12-31",
  });
  const pem = `-----BEGIN PUBLIC KEY-----\n${issuerKey}\n-----END PUBLIC KEY-----\n`;
  expect((await read(file, { publicKey: pem, key: "ABCD1234wxyz" }))().state).toBe("valid");
});

test("a license expires while the process runs", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-12-31T23:59:00Z") });
  const report = await read(toLicense({ exp: "2026-12-31" }));
  expect(report().state).toBe("valid");
  vi.setSystemTime(Date.parse("2027-01-01T00:01:00Z"));
  expect(report().state).toBe("expired");
});

const foreign = toKeyText(generateKeyPairSync("ed25519").publicKey);
const otherKind = toKeyText(generateKeyPairSync("x25519").publicKey);

test.each([
  ["of another key", toLicense({}), { key: "other" }, "LICENSE_KEY does not open the license file."],
  ["that is no license", "hello", {}, "LICENSE_KEY does not open the license file."],
  ["of wrong content", toLicense({ exp: "soon" }), {}, "The license file does not hold a license."],
  ["larger than 1 MiB", "a".repeat(2 ** 21), {}, "The license file is larger than 1 MiB."],
  [
    "signed by somebody else",
    toLicense({}),
    { publicKey: foreign },
    "The signature of the license file is not by LICENSE_PUBLIC_KEY.",
  ],
  [
    "with a public key that is none",
    toLicense({}),
    { publicKey: "key" },
    "LICENSE_PUBLIC_KEY is no public key.",
  ],
  [
    "with a public key of another kind",
    toLicense({}),
    { publicKey: otherKind },
    "LICENSE_PUBLIC_KEY is not of the kind Ed25519.",
  ],
])("a license file %s says so, in the report and in the log", async (_, file, inputs, reason) => {
  warn.mockClear();
  expect((await read(file, inputs))()).toMatchObject({ state: "unreadable", reason, licensee: null });
  expect(warn).toHaveBeenCalledOnce();
});

test("inputs that do not make a license are noted, and none are none", async () => {
  const states = [
    (await read(toLicense({}), { key: "" }))().state,
    (await read(undefined))().state,
    (await read(undefined, { key: "", publicKey: "" }))().state,
  ];
  expect(states).toEqual(["noted", "noted", "none"]);
});
