import { describe, expect, test } from "vitest";
import { z } from "zod";
import { core } from "./core.ts";
import { ConfigError, readVariable } from "./environment.ts";
import { bool, int, json, list, text } from "./variable.ts";
import type { AnyVariable, Environment } from "./variable.ts";

const facts = { text: "A variable" };
// The oddities that document 3 names; plugins declare theirs the same way.
const iterations = int("CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS", 256, {
  ...facts,
  was: "CHAT_RESPONSE_MAX_TOOL_CALL_RETRIES",
  whenWas: 30,
  whenInvalid: 256,
});
const order = json("MODEL_ORDER_LIST", [], { ...facts, schema: z.array(z.string()), ignoreInvalid: true });
const metadata = json(
  "DEFAULT_MODEL_METADATA",
  {},
  { ...facts, schema: z.record(z.string(), z.unknown()), whenInvalid: {} },
);
const keys = list("OPENAI_API_KEYS", [], {
  ...facts,
  separator: ";",
  aliases: ["COMPAT_API_KEYS", "OPENAI_API_KEY"],
});
const buffer = int("CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE", null, {
  ...facts,
  min: 1,
  whenInvalid: null,
});

const oldName = "CHAT_RESPONSE_MAX_TOOL_CALL_RETRIES";

function read(variable: AnyVariable, environment: Environment) {
  const warnings: string[] = [];
  const { value, source, stated } = readVariable<unknown>(variable, environment, (message) =>
    warnings.push(message),
  );
  return { value, source, stated, warnings };
}

describe("oddities", () => {
  test.each<[AnyVariable, Environment, unknown, boolean]>([
    // variable, environment, value, warned
    [core.clientTimeout, {}, null, false],
    [core.clientTimeout, { AIOHTTP_CLIENT_TIMEOUT: "" }, null, false],
    [core.clientTimeout, { AIOHTTP_CLIENT_TIMEOUT: "20" }, 20, false],
    [core.clientTimeout, { AIOHTTP_CLIENT_TIMEOUT: "soon" }, 300, true],
    [core.clientTimeout, { AIOHTTP_CLIENT_TIMEOUT: "2.5" }, 300, true],
    [core.streamIdleTimeout, {}, null, false],
    [core.streamIdleTimeout, { AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "60" }, 60, false],
    [core.streamIdleTimeout, { AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "0" }, null, true],
    [core.streamIdleTimeout, { AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "-5" }, null, true],
    [core.streamIdleTimeout, { AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "x" }, null, true],
    [core.modelListTimeout, {}, 10, false],
    [core.commonModelListTimeout, {}, null, false],
    [core.toolServerTimeout, { AIOHTTP_CLIENT_TIMEOUT: "20" }, null, false],
    [core.toolServerTimeout, { AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER: "0" }, 0, false],
    [core.sessionSsl, {}, true, false],
    [core.sessionSsl, { AIOHTTP_CLIENT_SESSION_SSL: "False" }, false, false],
    [core.sessionSsl, { AIOHTTP_CLIENT_SESSION_SSL: "/etc/ca.pem" }, "/etc/ca.pem", false],
    [buffer, { CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE: "0" }, null, true],
    [buffer, { CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE: "4096" }, 4096, false],
    [iterations, {}, 256, false],
    [iterations, { CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS: "-1" }, -1, false],
    [iterations, { CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS: "" }, 256, false],
    [iterations, { CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS: "many" }, 256, true],
    [iterations, { [oldName]: "5" }, 5, false],
    [iterations, { [oldName]: "" }, 30, false],
    [iterations, { [oldName]: "many" }, 30, true],
    [iterations, { CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS: "7", [oldName]: "5" }, 7, false],
    [iterations, { CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS: "", [oldName]: "5" }, 256, false],
    [iterations, { CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS: "x", [oldName]: "5" }, 256, true],
    [core.schedulerPollInterval, { AUTOMATION_POLL_INTERVAL: "30" }, 30, false],
    [core.schedulerPollInterval, { SCHEDULER_POLL_INTERVAL: "5", AUTOMATION_POLL_INTERVAL: "30" }, 5, false],
    [order, { MODEL_ORDER_LIST: '["a","b"]' }, ["a", "b"], false],
    [order, { MODEL_ORDER_LIST: "[a" }, [], true],
    [order, { MODEL_ORDER_LIST: '{"a":1}' }, [], true],
    [metadata, { DEFAULT_MODEL_METADATA: "{oops" }, {}, true],
    [metadata, { DEFAULT_MODEL_METADATA: '{"tags":[]}' }, { tags: [] }, false],
    [keys, { OPENAI_API_KEYS: "a;b" }, ["a", "b"], false],
    [keys, { COMPAT_API_KEYS: "c" }, ["c"], false],
    [keys, { OPENAI_API_KEYS: "a", COMPAT_API_KEYS: "c" }, ["a"], false],
    [keys, { OPENAI_API_KEYS: "", OPENAI_API_KEY: "d" }, ["d"], false],
    [core.forwardedAllowIps, {}, ["*"], false],
    [core.forwardedAllowIps, { FORWARDED_ALLOW_IPS: "" }, [], false],
    [core.forwardedAllowIps, { FORWARDED_ALLOW_IPS: "10.0.0.1, 10.0.0.2" }, ["10.0.0.1", "10.0.0.2"], false],
    [core.logFormat, { LOG_FORMAT: "" }, "", false],
    [core.logLevel, { GLOBAL_LOG_LEVEL: "debug" }, "DEBUG", false],
    [core.env, { ENV: "production" }, "prod", true],
    [core.deviceType, { DEVICE_TYPE: "abacus" }, core.deviceType.computed?.from({}), false],
  ])("%# $name", (variable, environment, value, warned) => {
    const reading = read(variable, environment);
    expect(reading.value).toEqual(value);
    expect(reading.warnings.length > 0).toBe(warned);
  });
});

test("a substitute does not count as stated, so it is never stored", () => {
  expect(read(core.clientTimeout, { AIOHTTP_CLIENT_TIMEOUT: "soon" }).stated).toBe(false);
  expect(read(order, { MODEL_ORDER_LIST: "[a" })).toMatchObject({ stated: false, source: "default" });
  expect(read(core.clientTimeout, { AIOHTTP_CLIENT_TIMEOUT: "20" })).toMatchObject({
    stated: true,
    source: "environment",
  });
  expect(read(core.forwardedAllowIps, { FORWARDED_ALLOW_IPS: "" }).stated).toBe(true);
});

test("a warning names the variable that is wrong and what is used", () => {
  expect(read(iterations, { [oldName]: "many" }).warnings).toEqual([
    "CHAT_RESPONSE_MAX_TOOL_CALL_RETRIES must be a whole number; 30 is used instead.",
  ]);
  expect(read(core.streamIdleTimeout, { AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "0" }).warnings).toEqual([
    "AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT must be at least 1; it counts as not set.",
  ]);
});

test("a wrong value without a substitute stops the start and names the name that was used", () => {
  expect(() => read(core.port, { PORT: "http" })).toThrow(new ConfigError("PORT", "must be a whole number"));
  expect(() => read(core.schedulerPollInterval, { AUTOMATION_POLL_INTERVAL: "0" })).toThrow(
    "AUTOMATION_POLL_INTERVAL must be at least 1.",
  );
  expect(() => read(bool("ENABLE_X", true, facts), { ENABLE_X: "maybe" })).toThrow(
    "ENABLE_X must be true or false.",
  );
});

test("neither warnings nor errors quote a secret", () => {
  const secret = { ...facts, secret: true, schema: z.object({ key: z.string() }) };
  const { warnings } = read(json("A_SECRET", { key: "fallback" }, { ...secret, ignoreInvalid: true }), {
    A_SECRET: "hunter2",
  });
  expect(warnings).toEqual(["A_SECRET must be valid JSON; something else is used instead."]);
  expect(() => read(core.secretKey, { WEBUI_SECRET_KEY: "hunter2" })).toThrow(/^(?!.*hunter2)/);
});

test("white space is nothing to a number and something to a text", () => {
  expect(read(int("N", 1, facts), { N: "  " }).value).toBe(1);
  expect(read(text("T", "x", facts), { T: " " }).value).toBe(" ");
  expect(read(text("T", "x", facts), { T: "" }).value).toBe("x");
  expect(read(text("T", "x", { ...facts, whenEmpty: "" }), { T: "" })).toMatchObject({
    value: "",
    stated: true,
  });
});
