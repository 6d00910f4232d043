import { beforeEach, describe, expect, it } from "vitest";
import { AppError } from "./errors.ts";
import { createLogger, redactData, redactText } from "./log.ts";

let lines: string[];
const stream = { write: (line: string) => lines.push(line) };
const json = (level = "DEBUG") => createLogger({ level, format: "json", stream });
const plain = () => createLogger({ level: "DEBUG", format: "", stream });
const last = () => JSON.parse(lines.at(-1)!);

beforeEach(() => {
  lines = [];
});

describe("levels", () => {
  it.each([
    ["DEBUG", ["debug", "info", "warn", "error", "fatal"]],
    ["INFO", ["info", "warn", "error", "fatal"]],
    ["warning", ["warn", "error", "fatal"]],
    ["ERROR", ["error", "fatal"]],
    ["CRITICAL", ["fatal"]],
    ["nonsense", ["info", "warn", "error", "fatal"]],
  ])("%s writes %j", (level, expected) => {
    const log = json(level);
    for (const each of ["debug", "info", "warn", "error", "fatal"] as const) {
      log[each]("x");
      expect(log.isLevelEnabled(each)).toBe(expected.includes(each));
    }
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(expected);
  });
});

describe("JSON lines", () => {
  it("carry time, level, message, fields and the bindings of the child", () => {
    json().child({ plugin: "files" }).child({ request: "r1" }).info({ count: 2 }, "stored");
    expect(last()).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      plugin: "files",
      request: "r1",
      count: 2,
      msg: "stored",
    });
    expect(lines[0]).toMatch(/^[^\n]+\n$/);
  });

  it("mask secrets at any depth, in errors and in texts", () => {
    const cause = new Error("GET https://me:hunter22@host.test/?api_key=abcdef failed");
    const error = new AppError("upstream", { token: "t0p" }, { cause, headers: { "set-cookie": "a=b" } });
    json()
      .child({ apiKey: "k3y" })
      .error(
        { err: error, a: { b: { c: [{ "X-Api-Key": "k3y", Password: 12_345 }] } } },
        "sent Bearer abcdefgh123",
      );
    const line = lines[0]!;
    for (const secret of ["hunter22", "abcdef", "t0p", "a=b", "k3y", "12345", "abcdefgh123"]) {
      expect(line).not.toContain(secret);
    }
    expect(last()).toMatchObject({
      err: { code: "upstream", cause: { message: expect.stringContaining("host.test") } },
    });
  });

  it("survive what cannot be written", () => {
    const circle: Record<string, unknown> = { token: "x", big: 1n };
    circle["self"] = circle;
    json().info({ circle, nothing: undefined, list: [null, Symbol.iterator] }, "odd");
    expect(last().msg).toBe("odd");
    expect(lines[0]).not.toContain('"token":"x"');
  });
});

describe("plain lines", () => {
  it("put message and fields on one line", () => {
    plain()
      .child({ plugin: "files" })
      .warn({ id: "a b", n: 1, deep: { x: [1] } }, "slow");
    expect(lines[0]).toMatch(
      /^\d{4}-\d\d-\d\d [\d:.]{12} WARN {2}files: slow id="a b" n=1 deep=\{"x":\[1\]\}\n$/,
    );
  });

  it("put stacks and causes below", () => {
    const error = new Error("outer", { cause: new TypeError("inner") });
    plain().error({ err: error }, "failed");
    expect(lines[0]).toMatch(
      /ERROR failed\n {4}Error: outer\n {8}at .+\n {2}caused by\n {4}TypeError: inner\n/s,
    );
    plain().error({ err: "just text" }, "failed");
    expect(lines[1]).toMatch(/ERROR failed\n {4}just text\n$/);
  });

  it("let nobody forge a line or steer the terminal", () => {
    plain().info({ path: "/a\nERROR forged", "a\u001b[2J": 1 }, "x\r\ny\u001b[31m");
    expect(lines[0]!.indexOf("\n")).toBe(lines[0]!.length - 1);
    expect(lines[0]).not.toContain("\u001b");
  });
});

describe("redactText", () => {
  it.each([
    ["Authorization: Bearer abc.def-ghi_jkl", "Authorization: Bearer [redacted]"],
    ["authorization basic dXNlcjpwYXNz==", "authorization basic [redacted]"],
    ["key sk-proj-abcdefgh12345 used", "key [redacted] used"],
    ["jwt eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2ln!", "jwt [redacted]!"],
    ["postgres://app:s3cret@db:5432/x", "postgres://app:[redacted]@db:5432/x"],
    ["/cb?code=abc&state=1&access_token=def#x", "/cb?code=[redacted]&state=1&access_token=[redacted]#x"],
    [
      "/api/v1/calendars/subscribe/a-1/abcdefghij0123456789.ics",
      "/api/v1/calendars/subscribe/a-1/[redacted].ics",
    ],
    ['{"url":"http://h/?key=abc"}', '{"url":"http://h/?key=[redacted]"}'],
    ["nothing to hide: task-force, bearer of news", "nothing to hide: task-force, bearer of news"],
    ["http://host:8080/path?page=2", "http://host:8080/path?page=2"],
    ["user@example.com // a:b", "user@example.com // a:b"],
  ])("%s", (text, expected) => expect(redactText(text)).toBe(expected));
});

describe("redactData", () => {
  it("copies only what it has to change", () => {
    const data = { a: { token: "x" }, b: { c: 1 } };
    const redacted = redactData(data) as typeof data;
    expect(redacted).toEqual({ a: { token: "[redacted]" }, b: { c: 1 } });
    expect(redacted.b).toBe(data.b);
    expect(data.a.token).toBe("x");
    expect(redactData(data.b)).toBe(data.b);
  });

  it.each([
    ["authorization", true],
    ["Proxy-Authorization", true],
    ["set-cookie", true],
    ["x-api-key", true],
    ["OPENAI_API_KEY", true],
    ["new_password", true],
    ["refreshToken", true],
    ["client_secret", true],
    ["key", true],
    ["max_tokens", false],
    ["keyboard", false],
    ["author", false],
  ])("masks %s: %s", (key, expected) => {
    expect(redactData({ [key]: "value" })).toEqual({ [key]: expected ? "[redacted]" : "value" });
  });

  it("counts bytes instead of listing them", () => {
    expect(redactData({ body: Buffer.alloc(1_000_000) })).toEqual({ body: "[1000000 bytes]" });
  });

  it("keeps what tells nothing", () => {
    const data = { token: null, password: undefined, secret: false };
    expect(redactData(data)).toBe(data);
  });
});
