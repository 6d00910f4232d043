import { z } from "zod";
import { checkAddress } from "#config/parse.ts";
import { bool, grouped, int, json, oneOf, text } from "#config/variable.ts";

/** Bounds of reading documents, of this platform's own making. */
export const extractionVariables = grouped("Extraction", {
  maxSize: int("EXTRACTION_MAX_SIZE", 200, {
    key: "rag.extraction.max_size",
    persisted: true,
    min: 1,
    max: 2000,
    text: "Largest document whose text is read, in MB; reading a larger one fails",
  }),
  timeout: int("EXTRACTION_TIMEOUT", 180, {
    key: "rag.extraction.timeout",
    persisted: true,
    min: 1,
    max: 3600,
    text: "Seconds that reading one document may take",
  }),
  cpuSeconds: int("EXTRACTION_CPU_SECONDS", 60, {
    key: "rag.extraction.cpu_seconds",
    persisted: true,
    min: 1,
    max: 3600,
    text: "Seconds of a processor that reading one document may take",
  }),
  memory: int("EXTRACTION_MEMORY", 512, {
    key: "rag.extraction.memory",
    persisted: true,
    min: 64,
    max: 8192,
    text: "Megabytes of memory that reading one document may take",
  }),
  threads: int("EXTRACTION_THREADS", 2, {
    key: "rag.extraction.threads",
    persisted: true,
    min: 1,
    max: 16,
    text: "Documents that are read at the same time",
  }),
  maxPages: int("EXTRACTION_MAX_PAGES", 10_000, {
    key: "rag.extraction.max_pages",
    persisted: true,
    min: 1,
    max: 1_000_000,
    text: "Most pages of a PDF; a longer one is not read",
  }),
  maxUnpacked: int("EXTRACTION_MAX_UNPACKED", 512, {
    key: "rag.extraction.max_unpacked",
    persisted: true,
    min: 1,
    max: 8192,
    text: "Megabytes to which one file may unpack: office documents, books and archives; what unpacks to more is not read",
  }),
  maxMembers: int("EXTRACTION_MAX_MEMBERS", 5000, {
    key: "rag.extraction.max_members",
    persisted: true,
    min: 1,
    max: 1_000_000,
    text: "Most members of an archive, those of archives within it included",
  }),
});

const engines = [
  "",
  "tika",
  "docling",
  "document_intelligence",
  "mistral_ocr",
  "datalab_marker",
  "mineru",
  "paddleocr",
  "external",
] as const;

const key = (name: string) => ({ key: `rag.${name}`, persisted: true }) as const;

/** The engine that reads documents instead of this server (contract, A4). */
export const engineVariables = grouped("Extraction engine", {
  engine: oneOf("CONTENT_EXTRACTION_ENGINE", engines, "", {
    ...key("content_extraction_engine"),
    text: "Server that reads documents, also scanned ones: tika, docling, document_intelligence, datalab_marker, external, mistral_ocr (PDF alone), mineru or paddleocr (PDF and pictures); empty reads them here, without OCR. Texts and archives are always read here",
  }),
  pdfPictures: bool("PDF_EXTRACT_IMAGES", false, {
    ...key("pdf_extract_images"),
    text: "Reads the pictures within a PDF as well; needs the engine tika, others decide by themselves and without an engine it has no effect",
  }),
  tikaUrl: text("TIKA_SERVER_URL", "http://tika:9998", {
    ...key("tika_server_url"),
    check: checkAddress,
    text: "Address of Apache Tika Server",
  }),
  doclingUrl: text("DOCLING_SERVER_URL", "http://docling:5001", {
    ...key("docling_server_url"),
    check: checkAddress,
    text: "Address of Docling Serve",
  }),
  doclingKey: text("DOCLING_API_KEY", "", {
    ...key("docling_api_key"),
    secret: true,
    text: "Key of Docling Serve; empty where it asks for none",
  }),
  doclingParams: json<Record<string, unknown>>(
    "DOCLING_PARAMS",
    {},
    {
      ...key("docling_params"),
      schema: z.record(z.string(), z.unknown()),
      text: "Further fields of the request to Docling Serve, as JSON, such as do_ocr",
    },
  ),
  azureUrl: text("DOCUMENT_INTELLIGENCE_ENDPOINT", "", {
    ...key("document_intelligence_endpoint"),
    check: checkAddress,
    text: "Address of the Azure resource Document Intelligence",
  }),
  azureKey: text("DOCUMENT_INTELLIGENCE_KEY", "", {
    ...key("document_intelligence_key"),
    secret: true,
    text: "Key of the Azure resource Document Intelligence",
  }),
  azureModel: text("DOCUMENT_INTELLIGENCE_MODEL", "prebuilt-layout", {
    ...key("document_intelligence_model"),
    text: "Model of Document Intelligence",
  }),
  datalabUrl: text("DATALAB_MARKER_API_BASE_URL", "https://www.datalab.to/api/v1/marker", {
    ...key("datalab_marker_api_base_url"),
    check: checkAddress,
    text: "Address of Datalab Marker",
  }),
  datalabKey: text("DATALAB_MARKER_API_KEY", "", {
    ...key("datalab_marker_api_key"),
    secret: true,
    text: "Key of Datalab Marker",
  }),
  mineruUrl: text("MINERU_API_URL", "http://localhost:8000", {
    ...key("mineru_api_url"),
    check: checkAddress,
    text: "Address of a MinerU server",
  }),
  mineruKey: text("MINERU_API_KEY", "", {
    ...key("mineru_api_key"),
    secret: true,
    text: "Key of the MinerU server; empty where it asks for none",
  }),
  paddleUrl: text("PADDLEOCR_VL_BASE_URL", "http://localhost:8080", {
    ...key("paddleocr_vl_base_url"),
    check: checkAddress,
    text: "Address of a PaddleOCR-VL server",
  }),
  paddleKey: text("PADDLEOCR_VL_TOKEN", "", {
    ...key("paddleocr_vl_token"),
    secret: true,
    text: "Token of the PaddleOCR-VL server; empty where it asks for none",
  }),
  externalUrl: text("EXTERNAL_DOCUMENT_LOADER_URL", "", {
    ...key("external_document_loader_url"),
    check: checkAddress,
    text: "Address of a document loader of your own, which answers PUT /process",
  }),
  externalKey: text("EXTERNAL_DOCUMENT_LOADER_API_KEY", "", {
    ...key("external_document_loader_api_key"),
    secret: true,
    text: "Key of the document loader of your own; empty where it asks for none",
  }),
  mistralUrl: text("MISTRAL_OCR_API_BASE_URL", "https://api.mistral.ai/v1", {
    ...key("mistral_ocr_api_base_url"),
    check: checkAddress,
    text: "Address of Mistral OCR",
  }),
  mistralKey: text("MISTRAL_OCR_API_KEY", "", {
    ...key("mistral_ocr_api_key"),
    secret: true,
    text: "Key of Mistral OCR",
  }),
});
