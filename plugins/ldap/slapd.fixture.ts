import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const program = "/usr/sbin/slapd";

/** Suites that need a directory are skipped where OpenLDAP's server is not installed. */
export const hasSlapd = existsSync(program);

export const directoryBase = "dc=mill,dc=test";

/** A person or group that the directory begins with. */
export interface TestEntry {
  readonly dn: string;
  readonly attributes: Readonly<Record<string, string | readonly string[]>>;
}

export interface TestDirectory {
  /** Speaks plainly, and StartTLS. */
  readonly port: number;
  /** Speaks TLS from the start. */
  readonly securePort: number;
  /** The certificate that it shows, for `localhost`. */
  readonly caFile: string;
  readonly appDn: string;
  readonly appPassword: string;
  close(): Promise<void>;
}

/** Starts OpenLDAP's server on loopback, with these entries below `directoryBase`. */
export async function startDirectory(entries: readonly TestEntry[]): Promise<TestDirectory> {
  const folder = await mkdtemp(join(tmpdir(), "directory-"));
  const [keyFile, caFile, config] = ["key.pem", "cert.pem", "slapd.conf"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await mkdir(join(folder, "data"));
  const kind = ["-newkey", "rsa:2048", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...names, "-keyout", keyFile, "-out", caFile], {
    stdio: "ignore",
  });
  const appDn = `cn=platform,${directoryBase}`;
  const appPassword = "mill-secret";
  await writeFile(config, toConfig({ folder, keyFile, caFile, appDn, appPassword }));
  execFileSync("/usr/sbin/slapadd", ["-f", config], {
    input: toLdif(entries),
    stdio: ["pipe", "ignore", "pipe"],
  });
  const [port, securePort] = [await freePort(), await freePort()];
  const listeners = `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${securePort}`;
  const child = spawn(program, ["-f", config, "-h", listeners, "-d", "0"], { stdio: "ignore" });
  await answers(port);
  return {
    port,
    securePort,
    caFile,
    appDn,
    appPassword,
    async close() {
      await stop(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Place {
  readonly folder: string;
  readonly keyFile: string;
  readonly caFile: string;
  readonly appDn: string;
  readonly appPassword: string;
}

function toConfig({ folder, keyFile, caFile, appDn, appPassword }: Place): string {
  return [
    ...["core", "cosine", "inetorgperson"].map((name) => `include /etc/ldap/schema/${name}.schema`),
    "modulepath /usr/lib/ldap",
    "moduleload back_mdb",
    `pidfile ${folder}/slapd.pid`,
    `TLSCertificateFile ${caFile}`,
    `TLSCertificateKeyFile ${keyFile}`,
    "attributetype ( 1.3.6.1.4.1.99999.1 NAME 'memberOfName' SUP distinguishedName )",
    "objectclass ( 1.3.6.1.4.1.99999.2 NAME 'millPerson' SUP top AUXILIARY MAY ( memberOfName ) )",
    "database mdb",
    "maxsize 10485760",
    `suffix "${directoryBase}"`,
    `rootdn "${appDn}"`,
    `rootpw ${appPassword}`,
    `directory ${folder}/data`,
    "access to attrs=userPassword by anonymous auth by * none",
    "access to * by users read by * none",
    "",
  ].join("\n");
}

function toLdif(entries: readonly TestEntry[]): string {
  const top: TestEntry = {
    dn: directoryBase,
    attributes: { objectClass: ["dcObject", "organization"], dc: "mill", o: "Mill" },
  };
  return [top, ...entries]
    .map(({ dn, attributes }) =>
      [
        `dn:: ${Buffer.from(dn).toString("base64")}`,
        ...Object.entries(attributes).flatMap(([name, values]) =>
          [values].flat().map((value) => `${name}:: ${Buffer.from(value).toString("base64")}`),
        ),
      ].join("\n"),
    )
    .join("\n\n");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(port: number): Promise<void> {
  for (let left = 100; ; left -= 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen || left === 0) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await ended;
  }
}
