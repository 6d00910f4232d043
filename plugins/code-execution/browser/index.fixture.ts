import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32 } from "node:zlib";
import { readOwnLock } from "./runtime.ts";

/** An index of packages on loopback: a lock file and wheels. */
export interface PackageIndex {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** Answered for the wheel from now on. */
  wheel: Buffer;
  close(): Promise<void>;
}

const name = "greeter-1.0-py3-none-any.whl";

/** Starts an index with one small package, `greeter`. */
export async function startPackageIndex(): Promise<PackageIndex> {
  const wheel = toZip({
    "greeter/__init__.py": "def greet(name):\n    return f'Hello {name}'\n",
    "greeter-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n",
    "greeter-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "greeter-1.0.dist-info/RECORD": "",
  });
  const own = await readOwnLock();
  const entry = {
    name: "greeter",
    version: "1.0",
    file_name: name,
    install_dir: "site",
    sha256: createHash("sha256").update(wheel).digest("hex"),
    package_type: "package",
    imports: ["greeter"],
    depends: [],
    unvendored_tests: false,
  };
  // Another hash than the one that Pyodide itself knows.
  const numpy = { ...own.packages["numpy"], sha256: "0".repeat(64) };
  const lock = JSON.stringify({ info: own.info, packages: { greeter: entry, numpy } });
  const asked: string[] = [];
  const index: { wheel: Buffer } = { wheel };
  const server = createServer(({ url = "" }, answer) => {
    asked.push(url);
    const found = { "/pyodide-lock.json": lock, [`/${name}`]: index.wheel }[url];
    answer.writeHead(found ? 200 : 404).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return Object.assign(index, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}

/** A zip archive whose members are stored as they are. */
function toZip(files: Readonly<Record<string, string>>): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const [title, bytes] = [Buffer.from(path), Buffer.from(text)];
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(bytes.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(title.length, 22);
    const head = Buffer.concat([Buffer.from("PK\u0003\u0004", "latin1"), facts, title, bytes]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    central.push(Buffer.from("PK\u0001\u0002", "latin1"), Buffer.from([20, 0]), facts, place, title);
    local.push(head);
    offset += head.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(files).length, 4);
  end.writeUInt16LE(Object.keys(files).length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...local, directory, Buffer.from("PK\u0005\u0006", "latin1"), end]);
}
