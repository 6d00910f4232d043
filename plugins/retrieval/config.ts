import { checkAddress } from "#config/parse.ts";
import { bool, grouped, int, number, oneOf, text, type Values } from "#config/variable.ts";

const rag = (name: string) => ({ key: `rag.${name}`, persisted: true }) as const;

const engines = ["", "local", "openai", "ollama", "azure_openai"] as const;

/** How texts are cut (appendix A4). */
const splitting = grouped("Passages", {
  splitter: oneOf("RAG_TEXT_SPLITTER", ["", "character", "token"], "", {
    ...rag("text_splitter"),
    text: "Whether the sizes of passages count characters or tokens (cl100k_base); empty for characters",
  }),
  chunkSize: int("CHUNK_SIZE", 1000, {
    ...rag("chunk_size"),
    min: 50,
    max: 100_000,
    text: "Largest size of a passage",
  }),
  chunkOverlap: int("CHUNK_OVERLAP", 100, {
    ...rag("chunk_overlap"),
    min: 0,
    max: 50_000,
    text: "How much of a passage the next one repeats",
  }),
  chunkMinSize: int("CHUNK_MIN_SIZE_TARGET", 0, {
    ...rag("chunk_min_size_target"),
    min: 0,
    max: 100_000,
    text: "Passages of Markdown that are smaller are joined with the next; 0 leaves them",
  }),
  markdownHeaders: bool("ENABLE_MARKDOWN_HEADER_TEXT_SPLITTER", true, {
    ...rag("enable_markdown_header_text_splitter"),
    text: "Cuts Markdown at its headings and keeps them with each passage",
  }),
});

/** The model that turns texts into vectors. */
const embedding = grouped("Embedding", {
  engine: oneOf("RAG_EMBEDDING_ENGINE", engines, "", {
    ...rag("embedding_engine"),
    text: "Model for vectors: empty for the built-in one, local for one in DATA_DIR/models, or a server",
  }),
  model: text("RAG_EMBEDDING_MODEL", "", {
    ...rag("embedding_model"),
    text: "Name of the embedding model; with the engine local a folder in DATA_DIR/models, or a model of the hub",
  }),
  hubUrl: text("RAG_EMBEDDING_HUB_URL", "https://huggingface.co", {
    ...rag("embedding_hub_url"),
    check: checkAddress,
    text: "Address of the hub that models of the engine local are fetched from; empty, or OFFLINE_MODE, fetches none",
  }),
  batchSize: int("RAG_EMBEDDING_BATCH_SIZE", 32, {
    ...rag("embedding_batch_size"),
    min: 1,
    max: 2048,
    text: "Passages that are embedded with one request",
  }),
  queryPrefix: text("RAG_EMBEDDING_QUERY_PREFIX", "", {
    ...rag("embedding_query_prefix"),
    text: "Text before each question, where the embedding model wants one",
  }),
  contentPrefix: text("RAG_EMBEDDING_CONTENT_PREFIX", "", {
    ...rag("embedding_content_prefix"),
    text: "Text before each passage, where the embedding model wants one",
  }),
  embeddingTimeout: int("RAG_EMBEDDING_TIMEOUT", 60, {
    ...rag("embedding_timeout"),
    min: 1,
    max: 3600,
    text: "Seconds that one request to an embedding server may take",
  }),
  openaiUrl: text("RAG_OPENAI_API_BASE_URL", "", {
    ...rag("openai_api_base_url"),
    check: checkAddress,
    text: "Address of the embedding server in the common format, such as https://host/v1",
  }),
  openaiKey: text("RAG_OPENAI_API_KEY", "", {
    ...rag("openai_api_key"),
    secret: true,
    text: "Key of the embedding server in the common format",
  }),
  ollamaUrl: text("RAG_OLLAMA_BASE_URL", "", {
    ...rag("ollama.url"),
    check: checkAddress,
    text: "Address of the local runtime that embeds",
  }),
  ollamaKey: text("RAG_OLLAMA_API_KEY", "", {
    ...rag("ollama.key"),
    secret: true,
    text: "Key of the local runtime that embeds",
  }),
  azureUrl: text("RAG_AZURE_OPENAI_BASE_URL", "", {
    ...rag("azure_openai.base_url"),
    check: checkAddress,
    text: "Address of the Azure resource that embeds",
  }),
  azureKey: text("RAG_AZURE_OPENAI_API_KEY", "", {
    ...rag("azure_openai.api_key"),
    secret: true,
    text: "Key of the Azure resource that embeds",
  }),
  azureVersion: text("RAG_AZURE_OPENAI_API_VERSION", "", {
    ...rag("azure_openai.api_version"),
    text: "Version of the API of the Azure resource that embeds",
  }),
});

/** How passages are found. */
const searching = grouped("Search in documents", {
  hybrid: bool("ENABLE_RAG_HYBRID_SEARCH", true, {
    ...rag("enable_hybrid_search"),
    text: "Searches by words and by meaning together; off, by meaning alone",
  }),
  topK: int("RAG_TOP_K", 5, {
    ...rag("top_k"),
    min: 1,
    max: 200,
    text: "Passages that a question gets",
  }),
  keywordWeight: number("RAG_HYBRID_BM25_WEIGHT", null, {
    ...rag("hybrid_bm25_weight"),
    min: 0,
    max: 1,
    text: "Share of the search by words, from 0 to 1; empty for 0.65, and 0.5 with the engine local",
  }),
  threshold: number("RAG_RELEVANCE_THRESHOLD", 0, {
    ...rag("relevance_threshold"),
    min: 0,
    max: 1,
    text: "Passages with a lower score are left out, from 0 to 1",
  }),
  fullContext: bool("RAG_FULL_CONTEXT", false, {
    ...rag("full_context"),
    text: "Gives models whole documents instead of passages",
  }),
  bypass: bool("BYPASS_EMBEDDING_AND_RETRIEVAL", false, {
    ...rag("bypass_embedding_and_retrieval"),
    text: "Makes no vectors and gives models whole documents",
  }),
  rerankEngine: oneOf("RAG_RERANKING_ENGINE", ["", "external"], "", {
    ...rag("reranking_engine"),
    text: "Orders what was found anew: empty for not at all, external for a server",
  }),
  rerankModel: text("RAG_RERANKING_MODEL", "", {
    ...rag("reranking_model"),
    text: "Name of the reranking model",
  }),
  rerankUrl: text("RAG_EXTERNAL_RERANKER_URL", "", {
    ...rag("external_reranker_url"),
    check: checkAddress,
    text: "Address that reranks, such as https://host/v1/rerank",
  }),
  rerankKey: text("RAG_EXTERNAL_RERANKER_API_KEY", "", {
    ...rag("external_reranker_api_key"),
    secret: true,
    text: "Key of the reranking server",
  }),
  rerankTimeout: int("RAG_EXTERNAL_RERANKER_TIMEOUT", 10, {
    ...rag("external_reranker_timeout"),
    min: 1,
    max: 600,
    text: "Seconds that reranking may take before the search goes on without it",
  }),
  rerankTopK: int("RAG_TOP_K_RERANKER", 3, {
    ...rag("top_k_reranker"),
    min: 1,
    max: 200,
    text: "Passages that are left after reranking",
  }),
});

/** Who may search what (configuration document, Access control). */
const accessRules = {
  bypassAccess: bool("BYPASS_RETRIEVAL_ACCESS_CONTROL", false, {
    text: "Skips the checks of files and collections in searches: everybody finds everything",
  }),
  allowUnknown: bool("ENABLE_RETRIEVAL_UNSCOPED_COLLECTIONS", false, {
    text: "Lets people who are no administrators name collections that nothing knows",
  }),
};

export const retrievalVariables = { ...splitting, ...embedding, ...searching, ...accessRules };
export type RetrievalSettings = Values<typeof retrievalVariables>;

/** The share of keyword search in the weighted sum: a better embedder gets more of a say. */
export function toKeywordWeight({ keywordWeight, engine }: RetrievalSettings): number {
  return keywordWeight ?? (engine === "local" ? 0.5 : 0.65);
}
