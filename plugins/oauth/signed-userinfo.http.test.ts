import { expect, it } from "vitest";
import { generateKeyPair, SignJWT } from "jose";
import { type App, startApp } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { createVisitor } from "./provider.fixture.ts";
import { scriptedClient, type ScriptedProvider, startScripted } from "./scripted.fixture.ts";

let app: App;
let peer: ScriptedProvider;

setUp(async (keep) => {
  peer = await keep(startScripted());
  const path = "/.well-known/openid-configuration";
  const document = peer.answers[path];
  peer.answers[path] = (request) => {
    const answer = document?.(request);
    const { body } = answer as { body: object };
    return {
      body: {
        ...body,
        userinfo_endpoint: `${peer.url}/userinfo`,
        userinfo_signing_alg_values_supported: ["RS256"],
      },
    };
  };
  app = await keep(
    startApp({
      env: {
        OPENID_PROVIDER_URL: peer.url + path,
        OAUTH_CLIENT_ID: scriptedClient.id,
        OAUTH_CLIENT_SECRET: scriptedClient.secret,
        ENABLE_OAUTH_SIGNUP: "true",
        DEFAULT_USER_ROLE: "user",
      },
    }),
  );
  const { token } = await app.admin();
  await app.call("POST /api/v1/auths/admin/config", { token, body: { WEBUI_URL: app.url } });
});

it("what a provider signs about a person counts with its own signature alone, after a change of its keys, too", async () => {
  const claims = () => ({
    iss: peer.url,
    aud: scriptedClient.id,
    sub: "ada",
    email: "ada@mill.test",
    email_verified: true,
  });
  const signIn = async (body: string) => {
    peer.answers["/userinfo"] = () => ({ type: "application/jwt", body });
    return (await createVisitor().go(`${app.url}/oauth/oidc/login`, { until: /^\/auth/ })).location;
  };
  expect(await signIn(await peer.signed(claims()))).toBe("/auth");
  await peer.rotate("two");
  expect(await signIn(await peer.signed(claims()))).toBe("/auth");
  const { privateKey } = await generateKeyPair("RS256");
  const forged = new SignJWT(claims()).setProtectedHeader({ alg: "RS256", kid: "two" });
  expect(await signIn(await forged.sign(privateKey))).toBe("/auth?error=refused");
});
