import { expect, it } from "vitest";
import { createSigningSecret, signWebhook } from "./webhook-signature.ts";

it("signs as the example of the Standard Webhooks specification does", () => {
  const headers = signWebhook('{"test": 2432232314}', {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    at: 1_614_265_330,
  });
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

it("makes secrets of 32 bytes that differ", () => {
  const [one, other] = [createSigningSecret(), createSigningSecret()];
  expect(one).not.toBe(other);
  expect(Buffer.from(one.slice("whsec_".length), "base64")).toHaveLength(32);
});
