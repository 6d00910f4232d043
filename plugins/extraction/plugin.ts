import type { Values } from "#config/variable.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill, provide } from "#kernel/service.ts";
import { egress } from "#kernel/services.ts";
import { fileProcessors, maxTextLength } from "#plugins/files/service.ts";
import { engineVariables, extractionVariables } from "./config.ts";
import { createEngineExtractor } from "./engines/engines.ts";
import { createExtraction } from "./extraction.ts";
import { createReadingPool } from "./pool/pool.ts";
import { createProcessor } from "./processor.ts";
import { extraction, extractors } from "./service.ts";

export default definePlugin({
  id: "extraction",
  title: "Extraction",
  summary: "Reads the text of documents: PDF, office files, pages, books, messages, archives.",
  config: { ...extractionVariables, ...engineVariables },
  uses: { egress, extractors },
  provides: [extraction],

  setup({ config, use, log }) {
    const pool = createReadingPool({
      log,
      threads: () => config.threads,
      memory: () => config.memory,
      seconds: () => config.timeout,
      cpuSeconds: () => config.cpuSeconds,
      maxBytes: () => config.maxSize * megabyte,
      limits: () => toLimits(config),
    });
    const engine = createEngineExtractor({
      egress: use.egress,
      settings: config,
      maxBytes: () => config.maxSize * megabyte,
      seconds: () => config.timeout,
    });
    const service = createExtraction(pool, () => [...use.extractors.list(), engine]);
    return {
      services: [provide(extraction, service)],
      fills: [
        fill(
          fileProcessors,
          createProcessor(service, () => [
            toLimits(config),
            toEngineFacts(config),
            use.extractors.list().flatMap(({ id, facts }) => (facts === undefined ? [] : [[id, facts()]])),
          ]),
        ),
      ],
      stop: () => pool.close(),
    };
  },
});

const megabyte = 1024 * 1024;

function toLimits(config: Values<typeof extractionVariables>) {
  return {
    pages: config.maxPages,
    members: config.maxMembers,
    unpackedBytes: config.maxUnpacked * megabyte,
    characters: maxTextLength,
  };
}

/** What of the engine's settings decides its results; keys do not. */
function toEngineFacts(config: Values<typeof engineVariables>) {
  return [config.engine, config.pdfPictures, config.doclingParams, config.externalUrl];
}
