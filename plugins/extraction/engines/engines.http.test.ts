import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { toPdf } from "../pdf.fixture.ts";

interface Asked {
  readonly route: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let app: App;
let admin: TestUser;
let origin: string;
let asked: Asked[] = [];
let answer: { status: number; body: unknown } = { status: 200, body: {} };

/** Answers that come before `answer`, for engines that are asked several times. */
let results: { status: number; body: unknown; headers?: Record<string, string> }[] = [];

const peer = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    asked.push({
      route: `${request.method} ${request.url}`,
      headers: request.headers,
      body: Buffer.concat(pieces),
    });
    const own = results.shift();
    if (own !== undefined) {
      response.writeHead(own.status, { "content-type": "application/json", ...own.headers });
      response.end(JSON.stringify(own.body));
      return;
    }
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`;
  app = await useApp();
  admin = await app.admin();
  await set({
    TIKA_SERVER_URL: `${origin}/`,
    DOCLING_SERVER_URL: origin,
    DOCLING_API_KEY: "docling-key",
    EXTERNAL_DOCUMENT_LOADER_URL: origin,
    EXTERNAL_DOCUMENT_LOADER_API_KEY: "loader-key",
    MISTRAL_OCR_API_BASE_URL: `${origin}/v1`,
    MISTRAL_OCR_API_KEY: "ocr-key",
    DOCUMENT_INTELLIGENCE_ENDPOINT: `${origin}/`,
    DOCUMENT_INTELLIGENCE_KEY: "azure-key",
    DATALAB_MARKER_API_BASE_URL: `${origin}/api/v1/marker`,
    DATALAB_MARKER_API_KEY: "datalab-key",
    MINERU_API_URL: origin,
    MINERU_API_KEY: "mineru-key",
    PADDLEOCR_VL_BASE_URL: origin,
    PADDLEOCR_VL_TOKEN: "paddle-token",
  });
});

beforeEach(() => {
  asked = [];
  results = [];
});

afterAll(async () => {
  await app?.close();
  peer.closeAllConnections();
  peer.close();
});

async function set(values: Record<string, unknown>): Promise<void> {
  expect((await admin.call("POST /api/v1/configs/settings", values)).status).toBe(200);
}

let count = 0;
/** A PDF that nobody sent before, so that no earlier text is taken over. */
async function upload(name = "scan.pdf", type = "application/pdf") {
  count += 1;
  const bytes = toPdf([`copy ${count}`]);
  const body = new FormData();
  body.append("file", new File([bytes as BlobPart], name, { type }));
  const route = "POST /api/v1/files/?process_in_background=false";
  const { body: file } = await admin.call(route, body);
  return { data: file.data, bytes };
}

it("Tika is asked for plain text, and for pictures where that is set", async () => {
  await set({ CONTENT_EXTRACTION_ENGINE: "tika", PDF_EXTRACT_IMAGES: true });
  answer = {
    status: 200,
    body: { "X-TIKA:content": "\n\nread by Tika\n", "Content-Type": "application/pdf" },
  };
  const { data, bytes } = await upload();
  expect(data).toMatchObject({ status: "completed", content: "read by Tika" });
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({
    route: "PUT /tika/text",
    headers: {
      accept: "application/json",
      "content-type": "application/pdf",
      "x-tika-pdfextractinlineimages": "true",
    },
  });
  expect(asked[0]?.body.equals(bytes)).toBe(true);
});

it("Docling gets a form with the parameters that are set, and its pages become places", async () => {
  await set({
    CONTENT_EXTRACTION_ENGINE: "docling",
    DOCLING_PARAMS: { do_ocr: true, ocr_lang: ["en", "de"] },
  });
  const text = "# One\n\n<!-- page break -->\n\nTwo";
  answer = { status: 200, body: { status: "success", document: { md_content: text } } };
  const { data } = await upload();
  expect(data).toMatchObject({
    status: "completed",
    content: "# One\n\nTwo",
    places: [
      { start: 0, page: 1 },
      { start: 7, page: 2 },
    ],
  });
  const { route, headers, body } = asked[0] as Asked;
  expect([route, headers["x-api-key"]]).toEqual(["POST /v1/convert/file", "docling-key"]);
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": headers["content-type"] ?? "" },
  }).formData();
  expect([form.get("to_formats"), form.get("do_ocr"), form.getAll("ocr_lang")]).toEqual([
    "md",
    "true",
    ["en", "de"],
  ]);
  expect((form.get("files") as File).name).toBe("scan.pdf");
});

it("an external loader gets bytes and name, and may answer page by page", async () => {
  await set({ CONTENT_EXTRACTION_ENGINE: "external" });
  answer = {
    status: 200,
    body: [
      { page_content: "first", metadata: { page: 0 } },
      { page_content: "second", metadata: { page: 1 } },
    ],
  };
  const { data } = await upload("Bericht März.pdf");
  expect(data).toMatchObject({
    content: "first\n\nsecond",
    places: [
      { start: 0, page: 1 },
      { start: 7, page: 2 },
    ],
  });
  expect(asked[0]).toMatchObject({
    route: "PUT /process",
    headers: { authorization: "Bearer loader-key", "x-filename": "Bericht%20M%C3%A4rz.pdf" },
  });
});

it("Mistral OCR gets PDF as a data address; other documents are read here", async () => {
  await set({ CONTENT_EXTRACTION_ENGINE: "mistral_ocr" });
  answer = { status: 200, body: { pages: [{ index: 0, markdown: "scanned words" }] } };
  const { data, bytes } = await upload();
  expect(data).toMatchObject({ content: "scanned words", places: [{ start: 0, page: 1 }] });
  expect(asked[0]).toMatchObject({ route: "POST /v1/ocr", headers: { authorization: "Bearer ocr-key" } });
  expect(JSON.parse(String(asked[0]?.body))).toEqual({
    model: "mistral-ocr-latest",
    document: {
      type: "document_url",
      document_url: `data:application/pdf;base64,${bytes.toString("base64")}`,
    },
    include_image_base64: false,
  });
  const body = new FormData();
  body.append("file", new File(["plain words"], "a.txt", { type: "text/plain" }));
  const route = "POST /api/v1/files/?process_in_background=false";
  expect((await admin.call(route, body)).body.data.content).toBe("plain words");
  expect(asked).toHaveLength(1);
});

it("Document Intelligence is asked for Markdown, and for the result that it names until there is one", async () => {
  await set({ CONTENT_EXTRACTION_ENGINE: "document_intelligence" });
  const result = `${origin}/documentintelligence/documentModels/prebuilt-layout/analyzeResults/7`;
  results = [
    { status: 202, body: {}, headers: { "operation-location": result } },
    { status: 200, body: { status: "running" } },
  ];
  const pages = [{ spans: [{ offset: 0, length: 9 }] }, { spans: [{ offset: 10, length: 8 }] }];
  answer = {
    status: 200,
    body: { status: "succeeded", analyzeResult: { content: "# First \n\nSecond  ", pages } },
  };
  const { data, bytes } = await upload();
  expect(data).toMatchObject({
    content: "# First\n\nSecond",
    places: [
      { start: 0, page: 1 },
      { start: 9, page: 2 },
    ],
  });
  expect(asked.map(({ route }) => route)).toEqual([
    "POST /documentintelligence/documentModels/prebuilt-layout:analyze?api-version=2024-11-30&outputContentFormat=markdown&stringIndexType=utf16CodeUnit",
    "GET /documentintelligence/documentModels/prebuilt-layout/analyzeResults/7",
    "GET /documentintelligence/documentModels/prebuilt-layout/analyzeResults/7",
  ]);
  expect(asked.every(({ headers }) => headers["ocp-apim-subscription-key"] === "azure-key")).toBe(true);
  expect(asked[0]?.body.equals(bytes)).toBe(true);
});

it("an engine that names a result elsewhere is not followed there with the key", async () => {
  await set({ CONTENT_EXTRACTION_ENGINE: "datalab_marker" });
  answer = { status: 200, body: { success: true, request_check_url: "http://127.0.0.1:9/steal" } };
  const { data } = await upload();
  expect(data).toMatchObject({
    status: "failed",
    error: "The extraction engine Datalab Marker named no result of its own.",
  });
});

it("Datalab Marker gets a form, and its page marks become places", async () => {
  await set({ CONTENT_EXTRACTION_ENGINE: "datalab_marker" });
  results = [{ status: 200, body: { success: true, request_check_url: `${origin}/api/v1/marker/9` } }];
  const mark = (page: number) => `\n\n{${page}}${"-".repeat(48)}\n\n`;
  answer = {
    status: 200,
    body: { status: "complete", success: true, markdown: `${mark(0)}One${mark(1)}Two` },
  };
  const { data } = await upload();
  expect(data).toMatchObject({
    content: "One\n\nTwo",
    places: [
      { start: 0, page: 1 },
      { start: 5, page: 2 },
    ],
  });
  expect(asked.map(({ route, headers }) => [route, headers["x-api-key"]])).toEqual([
    ["POST /api/v1/marker", "datalab-key"],
    ["GET /api/v1/marker/9", "datalab-key"],
  ]);
});

it("MinerU and PaddleOCR get PDF, and answer by file and by page", async () => {
  await set({ CONTENT_EXTRACTION_ENGINE: "mineru" });
  answer = { status: 200, body: { results: { scan: { md_content: "# Read by MinerU" } } } };
  expect((await upload()).data).toMatchObject({ content: "# Read by MinerU" });
  expect(asked[0]).toMatchObject({
    route: "POST /file_parse",
    headers: { authorization: "Bearer mineru-key" },
  });
  asked = [];
  await set({ CONTENT_EXTRACTION_ENGINE: "paddleocr" });
  const texts = ["First", "Second"].map((text) => ({ markdown: { text } }));
  answer = { status: 200, body: { errorCode: 0, result: { layoutParsingResults: texts } } };
  const { data, bytes } = await upload();
  expect(data.content).toBe("First\n\nSecond");
  expect(data.places.map(({ page }: { page: number }) => page)).toEqual([1, 2]);
  expect(asked[0]).toMatchObject({
    route: "POST /layout-parsing",
    headers: { authorization: "token paddle-token" },
  });
  expect(JSON.parse(String(asked[0]?.body))).toEqual({ file: bytes.toString("base64"), fileType: 0 });
});

it("a document that the engine refuses fails at once, with the reason", async () => {
  await set({ CONTENT_EXTRACTION_ENGINE: "tika" });
  answer = { status: 422, body: {} };
  expect((await upload()).data).toMatchObject({
    status: "failed",
    error: "The extraction engine Tika could not read the document (422).",
  });
  expect(asked).toHaveLength(1);
});

it("an engine that fails for a moment is asked again", async () => {
  await set({ CONTENT_EXTRACTION_ENGINE: "tika" });
  answer = { status: 503, body: {} };
  const sent = upload();
  await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(1);
  answer = { status: 200, body: { "X-TIKA:content": "at last" } };
  expect((await sent).data).toMatchObject({ status: "completed", content: "at last" });
});

it("an engine that is not there is refused, with the names of those that are", async () => {
  const refused = await admin.call("POST /api/v1/configs/settings", {
    CONTENT_EXTRACTION_ENGINE: "crystal_ball",
  });
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused.body)).toContain(
    "tika, docling, document_intelligence, mistral_ocr, datalab_marker, mineru, paddleocr, external",
  );
});
