import type { Values } from "#config/variable.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { isText } from "#plugins/files/service.ts";
import type { engineVariables } from "../config.ts";
import type { Extractor, SourceDocument } from "../service.ts";
import { createDatalabMarker } from "./datalab-marker.ts";
import { createDocling } from "./docling.ts";
import { createDocumentIntelligence } from "./document-intelligence.ts";
import type { Engine } from "./engine.ts";
import { createExternal } from "./external.ts";
import { createMineru } from "./mineru.ts";
import { createMistralOcr } from "./mistral-ocr.ts";
import { createPaddleocr } from "./paddleocr.ts";
import { createTika } from "./tika.ts";

export interface EngineParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly settings: Values<typeof engineVariables>;
  /** Bytes of the largest document. */
  maxBytes(): number;
  /** Seconds that reading one document may take. */
  seconds(): number;
}

/** The engine of CONTENT_EXTRACTION_ENGINE as an extractor; texts and archives are read here whatever it is. */
export function createEngineExtractor(parts: EngineParts): Extractor {
  const { egress, settings } = parts;
  const engines: Record<Exclude<typeof settings.engine, "">, Engine> = {
    tika: createTika(egress, () => ({ url: settings.tikaUrl, pictures: settings.pdfPictures })),
    docling: createDocling(egress, () => ({
      url: settings.doclingUrl,
      key: settings.doclingKey,
      params: settings.doclingParams,
    })),
    external: createExternal(egress, () => ({ url: settings.externalUrl, key: settings.externalKey })),
    document_intelligence: createDocumentIntelligence(egress, () => ({
      url: settings.azureUrl,
      key: settings.azureKey,
      model: settings.azureModel,
    })),
    datalab_marker: createDatalabMarker(egress, () => ({
      url: settings.datalabUrl,
      key: settings.datalabKey,
    })),
    mineru: createMineru(egress, () => ({ url: settings.mineruUrl, key: settings.mineruKey })),
    paddleocr: createPaddleocr(egress, () => ({ url: settings.paddleUrl, key: settings.paddleKey })),
    mistral_ocr: createMistralOcr(egress, () => ({ url: settings.mistralUrl, key: settings.mistralKey })),
  };
  const chosen = () => (settings.engine === "" ? undefined : engines[settings.engine]);
  return {
    id: "extraction.engine",
    accepts: (document) =>
      !isText(document.type, document.name) && !isArchive(document) && (chosen()?.accepts(document) ?? false),
    async extract(document, signal) {
      const engine = chosen();
      const bytes = await collect(document, parts.maxBytes());
      if (engine === undefined || bytes.length === 0) {
        throw new AppError("unprocessable", "The file is empty.");
      }
      const over = AbortSignal.timeout(parts.seconds() * 1000);
      const type = document.type || "application/octet-stream";
      try {
        return await engine.extract({ name: document.name, type, bytes }, AbortSignal.any([signal, over]));
      } catch (error) {
        if (over.aborted && !signal.aborted) {
          const reason = `The extraction engine ${engine.title} took longer than ${parts.seconds()} seconds.`;
          throw new AppError("unprocessable", reason, { cause: error });
        }
        throw error;
      }
    },
  };
}

function isArchive({ name, type }: Pick<SourceDocument, "name" | "type">): boolean {
  return /\.zip$/i.test(name) || /^application\/(zip|x-zip-compressed)$/.test(type);
}

async function collect(document: SourceDocument, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of (await document.open()) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > most) {
      const megabytes = Math.round(most / (1024 * 1024));
      throw new AppError("too_large", `Documents larger than ${megabytes} MB are not read.`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
