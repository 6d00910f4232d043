// Messages and parts of them as wires carry them, for tables of cases.

/** Messages of the OpenAI-compatible API; those of users and assistants are the same in the Anthropic Messages API. */
export const fromSystem = <Content, More = object>(content: Content, more?: More) => ({
  role: "system" as const,
  content,
  ...more,
});
export const fromUser = <Content, More = object>(content: Content, more?: More) => ({
  role: "user" as const,
  content,
  ...more,
});
export const fromAssistant = <Content, More = object>(content: Content, more?: More) => ({
  role: "assistant" as const,
  content,
  ...more,
});
export const fromTool = <Content>(tool_call_id: string, content: Content) => ({
  role: "tool" as const,
  tool_call_id,
  content,
});

/** A call of a tool in the OpenAI-compatible API, its arguments as a text. */
export const toolCall = <Arguments>(id: string, name: string, args: Arguments) => ({
  id,
  type: "function" as const,
  function: { name, arguments: args },
});

/** Blocks of the Anthropic Messages API; that of a text is the same in the OpenAI-compatible API. */
export const textPart = (text: string) => ({ type: "text" as const, text });
export const thinking = (thinking: string, signature = "") => ({
  type: "thinking" as const,
  thinking,
  signature,
});
export const toolUse = <Input>(id: string, name: string, input: Input) => ({
  type: "tool_use" as const,
  id,
  name,
  input,
});
