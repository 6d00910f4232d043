/** One streamed delta on the common wire. Unknown keys are kept. */
export interface Chunk {
  id?: string;
  object?: string;
  created?: number;
  model?: string;
  choices?: ChunkChoice[];
  usage?: Usage | null;
  [key: string]: unknown;
}

export interface ChunkChoice {
  index: number;
  delta: Delta;
  finish_reason?: string | null;
  [key: string]: unknown;
}

export interface Delta {
  role?: string;
  content?: string | null;
  reasoning_content?: string | null;
  reasoning?: string | null;
  refusal?: string | null;
  tool_calls?: ToolCallDelta[];
  [key: string]: unknown;
}

export interface ToolCallDelta {
  index: number;
  id?: string;
  type?: string;
  function?: { name?: string; arguments?: string };
  [key: string]: unknown;
}

/** What a model call cost. Core API, usage block. */
export interface Usage {
  prompt_tokens?: number;
  completion_tokens?: number;
  total_tokens?: number;
  input_tokens?: number;
  output_tokens?: number;
  [key: string]: unknown;
}

/** A whole, unstreamed completion on the common wire. */
export interface Completion {
  id?: string;
  object?: string;
  created?: number;
  model?: string;
  choices?: {
    index: number;
    message: CompletionMessage;
    finish_reason?: string | null;
    [key: string]: unknown;
  }[];
  usage?: Usage | null;
  [key: string]: unknown;
}

export interface CompletionMessage {
  role: string;
  content?: string | null;
  reasoning_content?: string | null;
  tool_calls?: {
    id: string;
    type: string;
    function: { name: string; arguments: string };
    [key: string]: unknown;
  }[];
  [key: string]: unknown;
}
