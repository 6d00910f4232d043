import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createWriteStream } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "#kernel/errors.ts";
import { createUpload, type UploadLimits, type UploadPatience, type UploadedFile } from "./upload.ts";

interface Outcome {
  code?: string;
  detail?: unknown;
  filename?: string;
  contentType?: string;
  size?: number;
  fields?: Record<string, string>;
}

let server: Server;
let port: number;
let folder: string;
let limits: UploadLimits;
let patience: UploadPatience | undefined;
let outcome: Promise<Outcome>;
let store: (file: UploadedFile) => Promise<{ filename: string; contentType: string; size: number }>;

/** Writes to a partial file that is removed when the stream fails, as the blob store does. */
async function storeOnDisk(file: UploadedFile) {
  const partial = join(folder, "partial");
  try {
    await pipeline(file.stream, createWriteStream(partial));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return { filename: file.filename, contentType: file.contentType, size: (await readFile(partial)).length };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "upload-"));
  server = createServer({ requestTimeout: 0 }, (request, response) => {
    const received = createUpload(request, request.headers, patience).receive("file", limits, store);
    outcome = received.then(
      ({ result, fields }): Outcome => ({ ...result, fields }),
      (error: unknown): Outcome => {
        if (!(error instanceof AppError)) {
          throw error;
        }
        return { code: error.code, detail: error.detail };
      },
    );
    void outcome.then((value) => response.end(JSON.stringify(value)));
    server.emit("began");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  limits = { maxBytes: null };
  patience = undefined;
  store = storeOnDisk;
  await rm(join(folder, "partial"), { force: true });
});

async function post(body: BodyInit, headers: Record<string, string> = {}): Promise<Outcome> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers });
  return (await response.json()) as Outcome;
}

/** Sends a body as it stands, under the boundary `edge` unless told otherwise. */
function postRaw(
  body: string | Buffer,
  contentType = "multipart/form-data; boundary=edge",
): Promise<Outcome> {
  return post(body as BodyInit, { "content-type": contentType });
}

function form(...entries: [string, string | File][]): FormData {
  const data = new FormData();
  for (const [name, value] of entries) {
    data.append(name, value);
  }
  return data;
}

const head =
  '--edge\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n';

describe("a whole form", () => {
  it("hands over the file and the fields on both sides of it", async () => {
    const file = new File(["hello"], "grüße 🎈.txt", { type: "text/plain" });
    expect(await post(form(["before", "1"], ["file", file], ["after", "ü"]))).toEqual({
      filename: "grüße 🎈.txt",
      contentType: "text/plain",
      size: 5,
      fields: { before: "1", after: "ü" },
    });
  });

  it("takes an empty file and one that is exactly as large as the limit", async () => {
    expect(await post(form(["file", new File([], "empty")]))).toMatchObject({ size: 0 });
    limits = { maxBytes: 70_000 };
    expect(await post(form(["file", new File(["x".repeat(70_000)], "full")]))).toMatchObject({
      size: 70_000,
    });
  });

  it("takes a file whose bytes look like a boundary", async () => {
    const content = `\r\n--edg\r\n--edge${"x".repeat(10)}`.replace("--edgex", "--ed-gex").repeat(1000);
    expect(await postRaw(`${head}${content}\r\n--edge--\r\n`)).toMatchObject({ size: content.length });
  });

  it("ignores files in other fields and everything after the first file", async () => {
    const first = new File(["first"], "first");
    const outcome = await post(
      form(["other", new File(["x"], "x")], ["file", first], ["file", new File(["second!"], "second")]),
    );
    expect(outcome).toMatchObject({ filename: "first", size: 5 });
  });

  it("keeps only the last part of a path in the name", async () => {
    const body = head.replace("a.txt", "..\\\\..\\\\etc/passwd") + "x\r\n--edge--\r\n";
    expect(await postRaw(body)).toMatchObject({ filename: "passwd" });
  });

  it("does not let a field reach the object's prototype", async () => {
    const { fields } = await post(form(["__proto__", "polluted"], ["file", new File(["x"], "x")]));
    expect(Object.keys(fields ?? {})).toEqual(["__proto__"]);
  });

  it("resolves when the store is content before the end of the file", async () => {
    store = async (file) => ({ filename: file.filename, contentType: file.contentType, size: -1 });
    const file = new File(["x".repeat(3_000_000)], "x");
    expect(await post(form(["file", file], ["after", "1"]))).toMatchObject({
      size: -1,
      fields: { after: "1" },
    });
  });
});

describe("a body that is no good form", () => {
  it.each([
    ["JSON", "{}", "application/json"],
    ["url-encoded fields", "file=x", "application/x-www-form-urlencoded"],
    ["a form without a boundary", head, "multipart/form-data"],
    ["an empty body", "", undefined],
    ["another boundary than the declared one", `${head}x\r\n--edge--`, "multipart/form-data; boundary=other"],
    ["an empty boundary", `${head}x\r\n--edge--`, 'multipart/form-data; boundary=""'],
    ["no file", '--edge\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n--edge--\r\n', undefined],
    ["a form that ends inside its file", `${head}partial`, undefined],
    [
      "a form that ends inside a part's headers",
      '--edge\r\ncontent-disposition: form-data; name="fi',
      undefined,
    ],
    [
      "part headers that are too large",
      head.replace("\r\n\r\n", `\r\nx-large: ${"x".repeat(200_000)}\r\n`),
      undefined,
    ],
    ["a boundary and a megabyte of dashes", `--edge${"-".repeat(1_000_000)}`, undefined],
    ["a megabyte of dashes as boundary ends", `${"--edge\r\n--".repeat(100_000)}`, undefined],
    ["nothing but line ends", "\r\n".repeat(500_000), undefined],
  ])("refuses %s", async (_title, body, contentType) => {
    const outcome = contentType === undefined ? await postRaw(body) : await postRaw(body, contentType);
    expect(outcome).toMatchObject({ code: "invalid" });
    expect(await readdir(folder)).toEqual([]);
  });

  it("refuses a hundred thousand fields", async () => {
    const field = (index: number) =>
      `--edge\r\ncontent-disposition: form-data; name="f${index}"\r\n\r\nx\r\n`;
    const body = Array.from({ length: 100_000 }, (_, index) => field(index)).join("");
    expect(await postRaw(`${body}${head}x\r\n--edge--`)).toMatchObject({ code: "invalid" });
    expect(await readdir(folder)).toEqual([]);
  });

  it("refuses a field that is too long, even behind a file that was stored", async () => {
    const outcome = await post(form(["file", new File(["x"], "x")], ["long", "x".repeat(2_000_000)]));
    expect(outcome).toMatchObject({ code: "too_large" });
  });

  it("refuses a form that is mostly something else than its file", async () => {
    expect(await postRaw(`${"x".repeat(9_000_000)}\r\n${head}x\r\n--edge--\r\n`)).toMatchObject({
      code: "too_large",
    });
    expect(await postRaw(`${head}x\r\n--edge--\r\n${"x".repeat(20_000_000)}`)).toSatisfy(
      (outcome: Outcome) => outcome.code === "too_large" || outcome.size === 1,
    );
  });
});

describe("a file over the limit", () => {
  it.each([11, 100_000, 20_000_000])("is refused at %i bytes and leaves nothing behind", async (size) => {
    limits = { maxBytes: 10 };
    expect(await post(form(["file", new File(["x".repeat(size)], "x")]))).toMatchObject({
      code: "too_large",
    });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("a client that misbehaves", () => {
  /** Sends the start of an upload and hands back the socket once the handler runs. */
  async function start(content: string) {
    const socket = connect(port, "127.0.0.1");
    const began = once(server, "began");
    socket.write(
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=edge\r\ncontent-length: 100000000\r\n\r\n",
    );
    socket.write(head + content);
    await began;
    return socket;
  }

  it.each([0, 1, 70_000, 1_000_000])("that breaks off after %i bytes leaves nothing behind", async (size) => {
    const socket = await start("x".repeat(size));
    socket.destroy();
    expect(await outcome).toMatchObject({ code: "invalid", detail: "The upload broke off." });
    expect(await readdir(folder)).toEqual([]);
  });

  it("that announces far too much is refused before anything is stored", async () => {
    limits = { maxBytes: 10 };
    let asked = false;
    store = (file) => {
      asked = true;
      return storeOnDisk(file);
    };
    const socket = await start("");
    expect(await outcome).toMatchObject({ code: "too_large" });
    expect(asked).toBe(false);
    socket.destroy();
  });

  it("that drips is refused", async () => {
    patience = { windowMs: 100, minBytes: 1000 };
    const socket = await start("x");
    expect(await outcome).toMatchObject({ code: "request_timeout" });
    expect(await readdir(folder)).toEqual([]);
    socket.destroy();
  });

  it("is not blamed for a slow disk", async () => {
    patience = { windowMs: 20, minBytes: 1 };
    let windows = 0;
    store = async (file) => {
      // Nothing is read while several windows pass; the bytes wait in the buffers.
      await new Promise<void>((resolve) => {
        const timer = setInterval(
          () => (++windows === 10 ? (clearInterval(timer), resolve()) : undefined),
          20,
        );
      });
      return storeOnDisk(file);
    };
    expect(await post(form(["file", new File(["x".repeat(5_000_000)], "x")]))).toMatchObject({
      size: 5_000_000,
    });
  });

  it("is told when the store fails", async () => {
    store = async (file) => {
      file.stream.resume();
      throw new AppError("invalid", "This kind of file is not accepted.");
    };
    expect(await post(form(["file", new File(["x".repeat(5_000_000)], "x")]))).toEqual({
      code: "invalid",
      detail: "This kind of file is not accepted.",
    });
  });

  it("is told when the store throws at once", async () => {
    store = () => {
      throw new AppError("invalid", "no");
    };
    expect(await post(form(["file", new File(["x"], "x")]))).toMatchObject({ code: "invalid" });
  });
});
