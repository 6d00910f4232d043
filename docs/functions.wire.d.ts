// Requests, answers, conversations and events: what the hooks of functions.d.ts get and give.

declare namespace Millrace {
  // ------------------------------------------------------------------------------------- the common wire: what is sent

  /** A request for a completion. Keys that the platform does not know are kept and sent to the provider. */
  interface Request {
    model: string;
    messages: Message[];
    stream?: boolean | null;
    tools?: Record<string, unknown>[] | null;
    files?: Record<string, unknown>[] | null;
    features?: Record<string, unknown> | null;
    filter_ids?: string[] | null;
    metadata?: Record<string, Json | undefined> | null;
    temperature?: number | null;
    max_tokens?: number | null;
    top_p?: number | null;
    stop?: string | string[] | null;
    [key: string]: unknown;
  }

  interface Message {
    /** `system`, `user`, `assistant` or `tool`; some providers know `developer`. */
    role: string;
    content?: string | ContentPart[] | null;
    tool_calls?: ToolCall[];
    tool_call_id?: string;
    [key: string]: unknown;
  }

  interface ContentPart {
    /** `text`, `image_url` and others. */
    type: string;
    text?: string;
    [key: string]: unknown;
  }

  interface ToolCall {
    id: string;
    type: string;
    /** `arguments` is JSON as text. */
    function: { name: string; arguments: string };
    [key: string]: unknown;
  }

  // --------------------------------------------------------------------------------- the common wire: what is answered

  interface Chunk {
    id?: string;
    object?: string;
    created?: number;
    model?: string;
    /** Empty or missing in chunks that carry something else, such as usage. */
    choices?: ChunkChoice[];
    usage?: Usage | null;
    /** Citations: clients show what an answer stands on. */
    sources?: Source[];
    [key: string]: unknown;
  }

  interface ChunkChoice {
    index: number;
    delta?: Delta;
    /** In the last chunk of a choice: `stop`, `length`, `tool_calls` … */
    finish_reason?: string | null;
    [key: string]: unknown;
  }

  interface Delta {
    role?: string;
    content?: string | null;
    reasoning_content?: string | null;
    reasoning?: string | null;
    tool_calls?: ToolCallDelta[];
    [key: string]: unknown;
  }

  /** A piece of a tool call; pieces with the same `index` belong together. */
  interface ToolCallDelta {
    index: number;
    id?: string;
    type?: string;
    function?: { name?: string; arguments?: string };
    [key: string]: unknown;
  }

  interface Completion {
    id?: string;
    object?: string;
    created?: number;
    model?: string;
    choices: {
      index: number;
      message: Message & { content?: string | null };
      finish_reason?: string | null;
    }[];
    usage?: Usage | null;
    sources?: Source[];
    [key: string]: unknown;
  }

  interface Usage {
    prompt_tokens?: number;
    completion_tokens?: number;
    total_tokens?: number;
    [key: string]: unknown;
  }

  interface Source {
    source: { id?: string; name: string; url?: string };
    /** Texts, one for each entry of `metadata`. */
    document: string[];
    metadata: { source: string; name?: string; url?: string }[];
  }

  // ------------------------------------------------------------------------- conversations, actions, events of the platform

  interface Conversation {
    model: string;
    messages: ConversationMessage[];
    chat_id?: string;
    session_id?: string;
    /** Id of the reply. */
    id?: string;
    filter_ids?: string[];
    [key: string]: unknown;
  }

  interface ConversationMessage extends Message {
    id: string;
  }

  interface ActionBody {
    model: string;
    messages: (Message & { id?: string })[];
    chat_id?: string | null;
    session_id?: string | null;
    /** Id of the message that the button belongs to. */
    id?: string | null;
    [key: string]: unknown;
  }

  interface ActionResult {
    /** Messages that changed; clients merge and save them by `id`. */
    messages?: { id?: string | undefined; content?: string; [key: string]: unknown }[];
    [key: string]: unknown;
  }

  interface SystemEvent {
    schema: "event.v1";
    id: string;
    /** Such as `user.created`; `resource` and `operation` are its two parts. */
    event: string;
    resource: string;
    operation: string;
    /** Epoch seconds. */
    created_at: number;
    instance_id: string;
    version: string;
    source: string;
    /** Who caused it; null for the server. */
    actor: { id: string; name?: string; email?: string; [key: string]: unknown } | null;
    /** What it is about. */
    subject: { type: string; id: string; [key: string]: unknown } | null;
    data: Json;
    /** One line for people. */
    message: string;
  }
}
