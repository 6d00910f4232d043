import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openEgress } from "#test/support/egress.ts";
import type { Egress } from "./egress.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describe.skipIf(!hasOpenssl)("TLS (needs the openssl command)", () => {
  let folder: string;
  let server: Server;
  let url: string;
  let certificate: X509Certificate;
  let egress: Egress;
  let settings: { ssl: boolean | string; caFile: string; fingerprint: string };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "egress-tls-"));
    const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    execFileSync("openssl", ["req", "-x509", ...kind, ...names, ...files], { stdio: "ignore" });
    const cert = readFileSync(join(folder, "cert.pem"));
    certificate = new X509Certificate(cert);
    server = createServer({ key: readFileSync(join(folder, "key.pem")), cert }, (_req, res) =>
      res.end("hello"),
    );
    server.on("tlsClientError", () => {});
    server.listen(0);
    await once(server, "listening");
    url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  });

  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    rmSync(folder, { recursive: true });
  });

  beforeEach(() => {
    settings = { ssl: true, caFile: "", fingerprint: "" };
    egress = openEgress({
      ssl: () => settings.ssl,
      caFile: () => settings.caFile,
      fingerprint: () => settings.fingerprint,
    });
  });

  afterEach(() => egress.close());

  async function ask(address = url): Promise<string[]> {
    const response = await egress.fetch(address, { trust: "operator" });
    const answer = await egress.request(address, { trust: "operator" });
    return [await response.text(), await text(answer.body)];
  }
  const fine = ["hello", "hello"];
  const unverified = { code: "upstream", detail: "The upstream's certificate could not be verified." };

  it("verifies unless told not to, and follows the setting at once", async () => {
    await expect(ask()).rejects.toMatchObject(unverified);
    settings.ssl = false;
    expect(await ask()).toEqual(fine);
    // The unverified connection is still open, and must not be used any more.
    settings.ssl = true;
    await expect(ask()).rejects.toMatchObject(unverified);
  });

  it("takes a CA bundle from either setting", async () => {
    settings.caFile = join(folder, "cert.pem");
    expect(await ask()).toEqual(fine);
    settings = { ssl: join(folder, "cert.pem"), caFile: "", fingerprint: "" };
    expect(await ask()).toEqual(fine);
    await expect(ask(url.replace("localhost", "127.0.0.1"))).rejects.toMatchObject(unverified);
  });

  it("names no path when the CA bundle cannot be read", async () => {
    settings.ssl = join(folder, "missing.pem");
    const error = await ask().catch((failure) => failure);
    expect(error.code).toBe("unavailable");
    expect(error.detail).not.toContain(folder);
  });

  it("refuses a CA bundle that holds no certificate", async () => {
    settings.ssl = join(folder, "key.pem");
    await expect(ask()).rejects.toMatchObject({ code: "upstream" });
    writeFileSync(
      join(folder, "garbage.pem"),
      "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n",
    );
    settings.ssl = join(folder, "garbage.pem");
    const error = await ask().catch((failure) => failure);
    expect(error).toMatchObject({ name: "AppError" });
  });

  it("compares the fingerprint, in any spelling, on every new connection", async () => {
    settings.ssl = false;
    for (const fingerprint of [
      certificate.fingerprint,
      certificate.fingerprint256,
      certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    ]) {
      settings.fingerprint = fingerprint;
      expect(await ask()).toEqual(fine);
    }
    for (const wrong of ["00".repeat(32), "00".repeat(20), "abc", certificate.fingerprint256.slice(3)]) {
      settings.fingerprint = wrong;
      await expect(ask()).rejects.toMatchObject({ code: "upstream", detail: /not the expected one/ });
    }
  });

  it("verifies beside comparing", async () => {
    settings.fingerprint = certificate.fingerprint256;
    await expect(ask()).rejects.toMatchObject(unverified);
  });
});
