import { expect, test } from "vitest";
import { findCookie, findCredential } from "./credential.ts";

const options = { keyHeader: "x-api-key" };

test.each([
  [{ "x-api-key": "sk-1" }, { value: "sk-1", source: "header" }],
  [
    { "x-api-key": "sk-1", authorization: "Bearer jwt", cookie: "token=c" },
    { value: "sk-1", source: "header" },
  ],
  [
    { "x-api-key": "  ", authorization: "Bearer jwt" },
    { value: "jwt", source: "bearer" },
  ],
  [{ authorization: "bearer   jwt  " }, { value: "jwt", source: "bearer" }],
  [
    { authorization: "Bearer jwt", cookie: "token=c" },
    { value: "jwt", source: "bearer" },
  ],
  [
    { authorization: "Basic dXNlcg==", cookie: "token=c" },
    { value: "c", source: "cookie" },
  ],
  [{ cookie: "a=1; token=c%20d; b=2" }, { value: "c d", source: "cookie" }],
])("%j shows %j", (headers, credential) => {
  expect(findCredential(headers, options)).toEqual(credential);
});

test.each([
  [{}],
  [{ authorization: "Bearer" }],
  [{ authorization: "Bearer " }],
  [{ authorization: "Bearer two words" }],
  [{ authorization: "jwt" }],
  [{ cookie: "token=" }],
  [{ cookie: "mytoken=c" }],
  [{ cookie: "token=%E0%A4" }],
])("%j shows none", (headers) => {
  expect(findCredential(headers, options)).toBeUndefined();
});

test("a renamed header takes over; vendor routes hear x-api-key as well", () => {
  const headers = { "x-api-key": "sk-1" };
  expect(findCredential(headers, { keyHeader: "x-service-key" })).toBeUndefined();
  expect(findCredential(headers, { keyHeader: "x-service-key", vendor: true })?.value).toBe("sk-1");
  const both = { ...headers, "x-service-key": "sk-2" };
  expect(findCredential(both, { keyHeader: "x-service-key", vendor: true })?.value).toBe("sk-2");
});

test("the first of two equal cookies counts", () => {
  expect(findCookie("token=one; token=two", "token")).toBe("one");
  expect(findCookie(undefined, "token")).toBeUndefined();
});
