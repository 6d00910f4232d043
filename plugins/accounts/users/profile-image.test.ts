import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createRegistry } from "#config/registry.ts";
import { gif, png as pngOf, toDataUri } from "#plugins/models/pictures/pictures.fixture.ts";
import { createAccounts } from "../accounts.ts";
import { toImageRules } from "../create-accounts.ts";
import { config as variables } from "../config.ts";
import { defaultAvatar } from "./default-avatar.ts";
import { requireProfileImage, toProfileImageReply, type ProfileImageRules } from "./profile-image.ts";

const png = `data:image/png;base64,${Buffer.from("89504e470d0a1a0a0000", "hex").toString("base64")}`;
const svg = `data:image/svg+xml;base64,${Buffer.from("<svg onload='x()'/>").toString("base64")}`;

function rules(changes: Partial<ProfileImageRules> = {}): ProfileImageRules {
  return {
    allowedTypes: () => ["image/png", "image/jpeg", "image/gif", "image/webp"],
    maxLength: () => undefined,
    forwardsUrls: () => true,
    ...changes,
  };
}

describe("an image that is about to be stored", () => {
  it.each(["", "/user.png", "https://pictures.example/a.png", png])("accepts %s", (value) => {
    expect(requireProfileImage(value, rules())).toBe(value);
  });

  it.each([
    ["an SVG", svg],
    ["a page dressed up as a picture", `data:image/png;base64,${btoa("<html><script>1</script>")}`],
    ["a type that is not listed", png.replace("png", "bmp")],
    ["a page", `data:text/html;base64,${btoa("<p>")}`],
    ["text data", "data:image/png,hello"],
    ["script", "javascript:alert(1)"],
    ["another host without a scheme", "//evil.example/a.png"],
    ["another host by a backslash", "/\\evil.example/a.png"],
    ["an address with credentials", "https://a:b@pictures.example/a.png"],
    ["a file address", "file:///etc/passwd"],
  ])("refuses %s", (_what, value) => {
    expect(() => requireProfileImage(value, rules())).toThrowError(
      expect.objectContaining({ code: "invalid" }),
    );
  });

  it("may have 25 megapixels and a thousand frames, and no more", () => {
    const at = (width: number) => toDataUri("png", pngOf(width, 5_000, { pixels: false }));
    expect(requireProfileImage(at(5_000), rules())).toBe(at(5_000));
    expect(() => requireProfileImage(at(5_001), rules())).toThrow(
      "The profile image has more than 25 megapixels.",
    );
    const long = toDataUri("gif", gif(1_001));
    expect(() => requireProfileImage(long, rules())).toThrow("The profile image has more than 1000 frames.");
  });

  it("refuses SVG even when an operator lists it", () => {
    const lax = rules({ allowedTypes: () => ["image/svg+xml"] });
    expect(() => requireProfileImage(svg, lax)).toThrowError(expect.objectContaining({ code: "invalid" }));
  });

  it("refuses an inline image over the limit", () => {
    const tight = rules({ maxLength: () => png.length - 1 });
    expect(() => requireProfileImage(png, tight)).toThrowError(
      expect.objectContaining({ code: "too_large" }),
    );
    expect(requireProfileImage(png, rules({ maxLength: () => png.length }))).toBe(png);
  });

  it("is as large as it likes where no limit is set", () => {
    const open = (environment: Record<string, string>) => {
      const config = createRegistry(environment).declare("accounts", variables);
      const images = toImageRules(config);
      return { images, pictures: createAccounts({ images } as never, {} as never).pictures };
    };
    const [free, limited] = [open({}), open({ PROFILE_IMAGE_MAX_DATA_URI_SIZE: "100" })];
    const long = png.replaceAll("=", "") + "A".repeat(8 * 1024 * 1024);
    const tooLarge = expect.objectContaining({ code: "too_large" });
    expect(requireProfileImage(long, free.images)).toBe(long);
    expect(free.pictures.require(long)).toBe(long);
    expect(() => requireProfileImage(long, limited.images)).toThrowError(tooLarge);
    expect(() => limited.pictures.require(long)).toThrowError(tooLarge);
  });
});

describe("a stored image", () => {
  it("is answered as bytes that nothing can run", () => {
    const answer = toProfileImageReply(png, rules());
    expect(answer.status).toBe(200);
    expect((answer.value as Buffer).toString("hex")).toBe("89504e470d0a1a0a0000");
    expect(answer.headers).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
    });
    expect(answer.headers["content-security-policy"]).toContain("sandbox");
  });

  it("is not sent again to who has it", () => {
    const etag = toProfileImageReply(png, rules()).headers["etag"] as string;
    expect(toProfileImageReply(png, rules(), { known: etag }).status).toBe(304);
  });

  it("redirects to an external address only where that is allowed", () => {
    const address = "https://pictures.example/a.png";
    const forwarded = toProfileImageReply(address, rules());
    expect([forwarded.status, forwarded.headers["location"]]).toEqual([302, address]);
    const kept = toProfileImageReply(address, rules({ forwardsUrls: () => false }));
    expect([kept.status, kept.value]).toEqual([200, defaultAvatar()]);
  });

  it.each([null, "", "/user.png", svg, "javascript:1"])(
    "falls back to the default picture for %s",
    (value) => {
      const answer = toProfileImageReply(value, rules());
      expect([answer.status, answer.value]).toEqual([200, defaultAvatar()]);
      expect(answer.headers["content-type"]).toBe("image/png");
    },
  );

  it("is no longer served once its type is not allowed any more", () => {
    expect(toProfileImageReply(png, rules({ allowedTypes: () => ["image/webp"] })).value).toEqual(
      defaultAvatar(),
    );
  });
});

it("draws the default picture as a 128 x 128 PNG", () => {
  const picture = defaultAvatar();
  expect(picture.readUInt32BE(16)).toBe(128);
  const length = picture.readUInt32BE(33);
  expect(inflateSync(picture.subarray(41, 41 + length))).toHaveLength(128 * 129);
});
