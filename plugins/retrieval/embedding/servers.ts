import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { RetrievalSettings } from "../config.ts";
import type { EmbeddingModel } from "./embedder.ts";

export interface ServerCall {
  readonly model: EmbeddingModel;
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
}

const CommonAnswer = z.object({
  data: z.array(z.object({ index: z.number().optional(), embedding: z.array(z.number()) })),
});
const RuntimeAnswer = z.object({ embeddings: z.array(z.array(z.number())) });

/** Bytes of an answer: 2,048 vectors of 4,096 numbers in text form fit. */
const maxAnswer = 256 * 1024 * 1024;

/** Asks an embedding server for the vectors of some texts, in their order. Throws an AppError that says why not. */
export async function embedOnServer(
  egress: Egress,
  settings: RetrievalSettings,
  { model, texts, signal }: ServerCall,
): Promise<number[][]> {
  const target = toTarget(settings, model);
  const answer = await egress.fetch(target.url, {
    trust: "operator",
    method: "POST",
    headers: target.headers,
    body: { ...(target.namesModel ? { model: model.model } : {}), input: [...texts] },
    timeoutMs: settings.embeddingTimeout * 1000,
    maxBytes: maxAnswer,
    signal,
  });
  if (!answer.ok) {
    const said = (await answer.text().catch(() => "")).slice(0, 200);
    throw new AppError("upstream", `The embedding server answered ${answer.status}: ${said}`);
  }
  const body: unknown = await answer.json().catch(() => undefined);
  const vectors = model.engine === "ollama" ? fromRuntime(body) : fromCommon(body);
  if (vectors === undefined || vectors.length !== texts.length) {
    throw new AppError(
      "upstream",
      `The embedding server gave ${vectors?.length ?? "no"} vectors for ${texts.length} texts.`,
    );
  }
  return vectors;
}

function fromCommon(body: unknown): number[][] | undefined {
  const parsed = CommonAnswer.safeParse(body);
  return parsed.data?.data
    .map((entry, position) => ({ ...entry, index: entry.index ?? position }))
    .toSorted((a, b) => a.index - b.index)
    .map(({ embedding }) => embedding);
}

const fromRuntime = (body: unknown) => RuntimeAnswer.safeParse(body).data?.embeddings;

interface Target {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly namesModel: boolean;
}

function toTarget(settings: RetrievalSettings, { engine, model }: EmbeddingModel): Target {
  switch (engine) {
    case "openai":
      return {
        url: `${base(settings.openaiUrl, "RAG_OPENAI_API_BASE_URL")}/embeddings`,
        headers: bearer(settings.openaiKey),
        namesModel: true,
      };
    case "ollama":
      return {
        url: `${base(settings.ollamaUrl, "RAG_OLLAMA_BASE_URL")}/api/embed`,
        headers: bearer(settings.ollamaKey),
        namesModel: true,
      };
    default: {
      const deployment = encodeURIComponent(model);
      const version = encodeURIComponent(settings.azureVersion);
      const address = base(settings.azureUrl, "RAG_AZURE_OPENAI_BASE_URL");
      return {
        url: `${address}/openai/deployments/${deployment}/embeddings?api-version=${version}`,
        headers: settings.azureKey === "" ? {} : { "api-key": settings.azureKey },
        namesModel: false,
      };
    }
  }
}

const bearer = (key: string): Record<string, string> =>
  key === "" ? {} : { authorization: `Bearer ${key}` };

function base(url: string, name: string): string {
  if (url === "") {
    throw new AppError("unavailable", `No embedding server is set: ${name} is empty.`);
  }
  return url.replace(/(?<!\/)\/+$/, "");
}
