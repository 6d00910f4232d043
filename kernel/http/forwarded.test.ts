import { describe, expect, it } from "vitest";
import { createClientAddress } from "./forwarded.ts";

describe("createClientAddress", () => {
  it.each([
    ["*", "10.0.0.1", "203.0.113.7, 10.0.0.2", "203.0.113.7"],
    ["*", "10.0.0.1", "unknown, 203.0.113.7", "203.0.113.7"],
    ["*", "10.0.0.1", "nonsense", "10.0.0.1"],
    ["10.0.0.0/8", "10.0.0.1", "198.51.100.9, 203.0.113.7, 10.0.0.2", "203.0.113.7"],
    ["10.0.0.1, 10.0.0.2", "10.0.0.1", "203.0.113.7, 10.0.0.3", "10.0.0.3"],
    ["10.0.0.0/8", "10.0.0.1", "10.0.0.5, 10.0.0.2", "10.0.0.5"],
    ["10.0.0.0/8", "192.0.2.1", "203.0.113.7", "192.0.2.1"],
    ["10.0.0.1", "::ffff:10.0.0.1", "203.0.113.7:4711", "203.0.113.7"],
    ["::ffff:10.0.0.1", "10.0.0.1", "203.0.113.7", "203.0.113.7"],
    ["fd00::/8", "fd00::1", "[2001:db8::5]:443", "2001:db8::5"],
    ["fd00::/8", "10.0.0.1", "203.0.113.7", "10.0.0.1"],
    ["", "127.0.0.1", "203.0.113.7", "127.0.0.1"],
  ])("trusting %j, peer %s with %j is %s", (allow, peer, forwarded, expected) => {
    const find = createClientAddress(allow);
    expect(find(peer, { "x-forwarded-for": forwarded }).address).toBe(expected);
  });

  it("takes an IPv4 address out of its IPv6 form without any header", () => {
    expect(createClientAddress("*")("::ffff:192.0.2.1", { host: "a.test" })).toEqual({
      address: "192.0.2.1",
      protocol: "http",
      host: "a.test",
      isProxied: true,
    });
  });

  it("believes protocol and host from trusted peers only", () => {
    const find = createClientAddress("10.0.0.1");
    const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "chat.test", host: "inner:8080" };
    expect(find("10.0.0.1", headers)).toEqual({
      address: "10.0.0.1",
      protocol: "https",
      host: "chat.test",
      isProxied: true,
    });
    expect(find("10.0.0.9", headers)).toEqual({
      address: "10.0.0.9",
      protocol: "http",
      host: "inner:8080",
      isProxied: false,
    });
  });

  it.each([
    ["https", "203.0.113.7, 10.0.0.2", "https"],
    ["WSS", "203.0.113.7", "https"],
    ["http, https", "198.51.100.9, 203.0.113.7", "https"],
    ["https, http", "203.0.113.7, 10.0.0.2", "https"],
    ["gopher", "203.0.113.7", "http"],
  ])("reads protocol %j beside %j as %s", (protocol, forwarded, expected) => {
    const find = createClientAddress("10.0.0.0/8");
    const headers = { "x-forwarded-proto": protocol, "x-forwarded-for": forwarded };
    expect(find("10.0.0.1", headers).protocol).toBe(expected);
  });

  it.each(["localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "1.2.3.4, nonsense"])(
    "refuses %j at the start",
    (allow) => expect(() => createClientAddress(allow)).toThrow(/FORWARDED_ALLOW_IPS/),
  );
});
