import { describe, expect, test } from "vitest";
import { AppError, type ErrorCode, ProviderError } from "#kernel/errors.ts";
import { type ErrorContext, toErrorAnswer, toErrorFrame } from "./errors.ts";
import type { ErrorShape } from "./surfaces.ts";

const context = (shape: ErrorShape = "detail", invalidStatus: 400 | 422 = 422): ErrorContext => ({
  shape,
  invalidStatus,
  requestId: "r-1",
});

const bodyOf = (error: unknown, shape?: ErrorShape) => JSON.parse(toErrorAnswer(error, context(shape)).body);

test.each<[ErrorCode, number]>([
  ["invalid", 400],
  ["unprocessable", 422],
  ["unauthenticated", 401],
  ["forbidden", 403],
  ["not_found", 404],
  ["method_not_allowed", 405],
  ["request_timeout", 408],
  ["conflict", 409],
  ["too_large", 413],
  ["rate_limited", 429],
  ["unavailable", 503],
  ["upstream", 502],
  ["timeout", 504],
])("%s is %d", (code, status) => {
  expect(toErrorAnswer(new AppError(code, "text"), context())).toMatchObject({ status, unexpected: false });
});

test("input that does not fit is 400 on surfaces that say so", () => {
  expect(toErrorAnswer(new AppError("unprocessable", []), context("compat", 400)).status).toBe(400);
});

describe("each shape says the same in its own words", () => {
  const error = new AppError("forbidden", "No entry");
  test.each<[ErrorShape, unknown]>([
    ["detail", { detail: "No entry" }],
    ["runtime", { error: "No entry" }],
    ["compat", { error: { message: "No entry", type: "permission_error", code: 403 } }],
    ["both", { detail: "No entry", error: { message: "No entry", type: "permission_error", code: 403 } }],
    ["message", { type: "error", error: { type: "permission_error", message: "No entry" } }],
  ])("%s", (shape, body) => {
    expect(bodyOf(error, shape)).toEqual(body);
  });

  test("validation entries become one line where there is room for a text only", () => {
    const invalid = new AppError("unprocessable", [{ type: "x", loc: ["body", "name"], msg: "too long" }]);
    expect(bodyOf(invalid, "runtime")).toEqual({ error: "body.name: too long" });
    expect(bodyOf(invalid, "detail").detail).toHaveLength(1);
  });

  test.each<[ErrorCode, string]>([
    ["conflict", "conflict_error"],
    ["too_large", "request_too_large"],
    ["rate_limited", "rate_limit_error"],
    ["unavailable", "overloaded_error"],
    ["upstream", "api_error"],
    ["timeout", "timeout_error"],
    ["invalid", "invalid_request_error"],
  ])("the vendor's word for %s is %s", (code, type) => {
    expect(bodyOf(new AppError(code, "x"), "message").error.type).toBe(type);
  });
});

test("a failure of ours tells a reference and nothing else", () => {
  const answer = toErrorAnswer(new Error("password=hunter2 at db.internal"), context());
  expect(answer).toMatchObject({ status: 500, unexpected: true });
  expect(answer.body).toContain("r-1");
  expect(answer.body).not.toContain("hunter2");
});

test("whole seconds to wait are told, at least one; 401 names the scheme", () => {
  const limited = toErrorAnswer(new AppError("rate_limited", "x", { retryAfter: 0.2 }), context());
  expect(limited.headers).toEqual({ "retry-after": "1" });
  expect(toErrorAnswer(new AppError("unauthenticated", "x"), context()).headers).toEqual({
    "www-authenticate": "Bearer",
  });
});

// Core API, chat completion rule 10.
describe("a provider's refusal", () => {
  const refuse = (body: string, contentType = "application/json") =>
    new ProviderError({
      status: 429,
      body,
      contentType,
      headers: { "retry-after": "7", "retry-after-ms": "6500" },
    });
  const json = '{ "error": {"message": "slow down", "code": "x"} }';

  test("passes through byte for byte with its retry headers", () => {
    const { headers, ...answer } = toErrorAnswer(refuse(json), context("compat"));
    expect(answer).toEqual({ status: 429, body: json, unexpected: false });
    expect(headers).toMatchObject({ "retry-after": "7", "retry-after-ms": "6500" });
  });

  test("speaks the vendor's format on vendor routes", () => {
    expect(bodyOf(refuse(json), "message")).toEqual({
      type: "error",
      error: { type: "rate_limit_error", message: "slow down" },
    });
  });

  test.each([
    ["busy", "busy"],
    ["<html><body>Gateway</body></html>", "The provider answered with status 429."],
    ["", "The provider answered with status 429."],
    ["[1]", "The provider answered with status 429."],
    ['{"error": "plain"', "The provider answered with status 429."],
  ])("that is no JSON object is wrapped: %j", (body, text) => {
    expect(bodyOf(refuse(body, "text/plain"), "compat").error.message).toBe(text);
  });

  test("ends a stream as a frame of the common format", () => {
    expect(toErrorFrame(refuse(json), "r-1")).toBe(json);
    expect(JSON.parse(toErrorFrame(new AppError("timeout", "too late"), "r-1"))).toEqual({
      error: { message: "too late", type: "server_error", code: 504 },
    });
  });
});
