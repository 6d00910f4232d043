import { expect, it } from "vitest";
import { returnAddress } from "./return-address.ts";

const origin = "https://chat.example";

it.each([
  ["", "/"],
  ["?redirect=/c/42%3Fa%3D1%23end", "/c/42?a=1#end"],
  ["?redirect=https://chat.example/notes", "/notes"],
  ["?redirect=https://evil.example/notes", "/"],
  ["?redirect=//evil.example", "/"],
  ["?redirect=/%5C/evil.example", "/"],
  ["?redirect=javascript:alert(1)", "/"],
  ["?redirect=/auth%3Fredirect%3D/auth", "/"],
])("leads from %s to %s", (search, address) => {
  expect(returnAddress(search, origin)).toBe(address);
});
