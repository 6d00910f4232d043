import { int, list } from "#config/variable.ts";

/** How much of files models read at once; the tools over collections keep to it as well. */
export const readingLimits = {
  viewDefaultChars: int("VIEW_FILE_DEFAULT_MAX_CHARS", 10_000, {
    min: 100,
    max: 1_000_000,
    text: "Characters of a file that a model gets to read at once when it does not say how many",
  }),
  viewMaxChars: int("VIEW_FILE_MAX_CHARS", 100_000, {
    min: 100,
    max: 1_000_000,
    text: "Most characters of a file that a model gets to read at once",
  }),
  grepMaxMatches: int("KNOWLEDGE_GREP_MAX_MATCHES", 50, {
    min: 1,
    max: 1_000,
    text: "Most lines that a model gets when it searches files for a pattern",
  }),
};

/** Limits of stored files (ecosystem names; A5 keys). */
export const filesConfig = {
  maxSize: int("RAG_FILE_MAX_SIZE", 100 as number | null, {
    key: "rag.file.max_size",
    persisted: true,
    min: 1,
    whenEmpty: null,
    text: "Largest file that may be uploaded, in MB; empty is unlimited",
  }),
  quota: int("FILE_QUOTA_PER_USER", 10_000 as number | null, {
    key: "file.quota_per_user",
    persisted: true,
    min: 1,
    whenEmpty: null,
    text: "Most that the files of one person may take together, in MB; empty is unlimited",
  }),
  maxCount: int("RAG_FILE_MAX_COUNT", null, {
    key: "rag.file.max_count",
    persisted: true,
    min: 1,
    text: "Most files the web interface sends with one message; empty is unlimited",
  }),
  allowedExtensions: list("RAG_ALLOWED_FILE_EXTENSIONS", [], {
    key: "rag.file.allowed_extensions",
    persisted: true,
    text: "Endings of files that may be uploaded, separated by commas; empty allows all",
  }),
  imageCompressionWidth: int("FILE_IMAGE_COMPRESSION_WIDTH", null, {
    key: "file.image_compression_width",
    persisted: true,
    min: 1,
    text: "Width to which the web interface shrinks images before it uploads them; empty leaves them as they are",
  }),
  imageCompressionHeight: int("FILE_IMAGE_COMPRESSION_HEIGHT", null, {
    key: "file.image_compression_height",
    persisted: true,
    min: 1,
    text: "Height to which the web interface shrinks images before it uploads them; empty leaves them as they are",
  }),
  ...readingLimits,
  processingTimeout: int("FILE_PROCESSING_TIMEOUT", 300, {
    min: 1,
    max: 3600,
    text: "Seconds after which processing one file has failed",
  }),
};
