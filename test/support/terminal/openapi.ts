const text = (description: string) => ({ type: "string", description });
const operation = (operationId: string, summary: string, rest: object = {}) => ({
  operationId,
  summary,
  responses: { 200: { description: "Successful Response", content: { "application/json": { schema: {} } } } },
  ...rest,
});
const path = { name: "path", in: "query", required: true, schema: text("Path to the file.") };
const body = (name: string) => ({
  requestBody: {
    required: true,
    content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } },
  },
});

/** What the server says it can do, in the words and shapes of the published one. */
export const document = {
  openapi: "3.1.0",
  info: { title: "Test terminal", version: "1.0.0", description: "A terminal server of tests." },
  paths: {
    "/files/list": {
      get: operation("list_files", "List directory contents", {
        parameters: [
          { name: "directory", in: "query", required: false, schema: { type: "string", default: "." } },
        ],
      }),
    },
    "/files/read": { get: operation("read_file", "Read a file", { parameters: [path] }) },
    "/files/display": {
      get: operation("display_file", "Display a file to the user", { parameters: [path] }),
    },
    "/files/write": { post: operation("write_file", "Write a file", body("WriteRequest")) },
    "/execute": { post: operation("run_command", "Execute a command", body("ExecRequest")) },
  },
  components: {
    schemas: {
      ExecRequest: {
        type: "object",
        properties: {
          command: text("Shell command to execute."),
          cwd: { anyOf: [{ type: "string" }, { type: "null" }] },
        },
        required: ["command"],
      },
      WriteRequest: {
        type: "object",
        properties: { path: text("Path to write to."), content: text("Text to write.") },
        required: ["path", "content"],
      },
    },
  },
};
