import { strToU8, unzipSync, zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunStage, runScripted, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { grant, permit } from "#plugins/workspace-tools/tools.fixture.ts";
import type { TestUser } from "#test/support/app.ts";

let stage: RunStage;
let author: TestUser;
let reader: TestUser;

// The person who asks is an administrator without a way past grants: an account like any other.
beforeAll(async () => {
  const env = { OPENAI_API_CONFIGS: '{"0": {"access": "everyone"}}', BYPASS_ADMIN_ACCESS_CONTROL: "false" };
  stage = await startRunStage({ env });
  [author, reader] = [await stage.app.user(), await stage.app.user()];
  await permit(stage.app, [author], {
    workspace: { skills: true, skills_import: true, skills_export: true, models: true },
    sharing: { public_skills: true, public_models: true },
  });
});
afterAll(() => stage?.close());

const call = (user: TestUser, route: string, body?: unknown) => {
  const [method, path] = route.split(" ", 2) as [string, string];
  const given = body === undefined ? {} : { body };
  return stage.app.call(`${method} /api/v1/skills${path}`, { token: user.token, ...given });
};

const base64 = (text: string) => Buffer.from(text).toString("base64");
const everybody = { principal_type: "user", principal_id: "*", permission: "read" };

async function make(id: string, more: Record<string, unknown> = {}) {
  const body = {
    id,
    name: `Name of ${id}`,
    description: "What it is for",
    content: `Text of ${id}.`,
    ...more,
  };
  const answer = await call(author, "POST /create", body);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body;
}

async function upload(bytes: Uint8Array, id?: string) {
  const form = new FormData();
  if (id !== undefined) {
    form.set("id", id);
  }
  form.set("file", new Blob([new Uint8Array(bytes)]), "skill.zip");
  const headers = { authorization: `Bearer ${author.token}` };
  const response = await fetch(`${stage.app.url}/api/v1/skills/import`, {
    method: "POST",
    headers,
    body: form,
  });
  return { status: response.status, body: await response.json() };
}

describe("a skill", () => {
  it("is made, read, changed, listed, switched off and deleted", async () => {
    const made = await make("PDF-Forms", { meta: { tags: ["office"] } });
    expect(made).toMatchObject({
      id: "pdf-forms",
      user_id: author.id,
      is_active: true,
      files: [],
      access_grants: [],
      write_access: true,
      meta: { tags: ["office"] },
    });
    const again = await call(author, "POST /create", { id: "pdf-forms", name: "n", content: "c" });
    expect(again.status).toBe(409);
    for (const id of ["", "two words", "../x", "x".repeat(65)]) {
      expect([id, (await call(author, "POST /create", { id, name: "n", content: "c" })).status]).toEqual([
        id,
        400,
      ]);
    }
    const changed = await call(author, "POST /id/pdf-forms/update", { description: "Fills forms" });
    expect(changed.body).toMatchObject({ description: "Fills forms", content: made.content });
    expect((await call(author, "GET /list?query=fills&tag=office")).body).toMatchObject({
      total: 1,
      items: [{ id: "pdf-forms", user: { id: author.id } }],
    });
    expect((await call(author, "POST /id/pdf-forms/toggle")).body.is_active).toBe(false);
    expect((await call(author, "GET /list?is_active=true")).body.total).toBe(0);
    expect((await call(author, "DELETE /id/pdf-forms/delete")).body).toBe(true);
    expect((await call(author, "GET /id/pdf-forms")).status).toBe(404);
  });

  it("is shared by grants, and made and exported by those who may", async () => {
    await make("shared");
    expect((await call(reader, "GET /id/shared")).status).toBe(404);
    await call(author, "POST /id/shared/access/update", { access_grants: [grant(reader, "read")] });
    expect((await call(reader, "GET /id/shared")).body).toMatchObject({
      write_access: false,
      access_grants: [],
    });
    expect((await call(reader, "POST /id/shared/update", { name: "mine" })).status).toBe(403);
    expect((await call(reader, "POST /create", { id: "mine", name: "n", content: "c" })).status).toBe(403);
    expect((await call(reader, "GET /export")).status).toBe(403);
    expect((await call(reader, "GET /id/shared/export")).status).toBe(403);
  });

  it("keeps files at paths inside it", async () => {
    await make("filed", { files: [{ path: "lib/a.txt", content: base64("one") }] });
    const added = await call(author, "POST /id/filed/files", { path: "b.bin", content: "AP8=" });
    expect(added.body.files).toEqual([
      { path: "b.bin", size: 2 },
      { path: "lib/a.txt", size: 3 },
    ]);
    expect((await call(author, "GET /id/filed/files/content?path=lib/a.txt")).body).toMatchObject({
      text: "one",
    });
    expect((await call(author, "GET /id/filed/files/content?path=b.bin")).body).toMatchObject({ text: null });
    for (const path of ["../a", "/a", "a//b", "a\\b", "C:/a", "a/../b", "", "skill.md", "x\u0000y"]) {
      const { status } = await call(author, "POST /id/filed/files", { path, content: "" });
      expect([path, status]).toEqual([path, 400]);
    }
    expect((await call(author, "POST /id/filed/files", { path: "LIB/A.txt", content: "" })).status).toBe(400);
    const large = { path: "large.bin", content: Buffer.alloc(1_000_001).toString("base64") };
    expect((await call(author, "POST /id/filed/files", large)).status).toBe(413);
    expect((await call(author, "DELETE /id/filed/files?path=b.bin")).body.files).toHaveLength(1);
  });
});

describe("an archive", () => {
  const main = strToU8(
    '---\nname: "Tide tables"\ndescription: Reads tides\nlicense: MIT\n---\n\nRead the table.\n',
  );

  it("becomes a skill with its files, and leaves as one that can be read again", async () => {
    const { status, body } = await upload(
      zipSync({ "tide-tables/SKILL.md": main, "tide-tables/data/t.csv": strToU8("1,2"), "__MACOSX/x": main }),
    );
    expect([status, body]).toEqual([200, expect.any(Object)]);
    expect(body).toMatchObject({
      id: "tide-tables",
      name: "Tide tables",
      description: "Reads tides",
      content: "Read the table.",
      files: [{ path: "data/t.csv", size: 3 }],
    });
    const response = await fetch(`${stage.app.url}/api/v1/skills/id/tide-tables/export`, {
      headers: { authorization: `Bearer ${author.token}` },
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(Object.keys(unzipSync(bytes)).toSorted()).toEqual([
      "tide-tables/SKILL.md",
      "tide-tables/data/t.csv",
    ]);
    const copy = await upload(bytes, "tide-copy");
    expect(copy.body).toMatchObject({
      ...body,
      id: "tide-copy",
      updated_at: copy.body.updated_at,
      created_at: copy.body.created_at,
    });
  });

  it("with a way out, a link, too much or nothing in it is refused as a whole", async () => {
    const link = zipSync({
      "SKILL.md": main,
      link: [strToU8("/etc/passwd"), { os: 3, attrs: (0o120777 << 16) >>> 0 }],
    });
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`${at}.txt`, strToU8("x")]));
    const bad = {
      upwards: zipSync({ "SKILL.md": main, "../evil.txt": main }),
      absolute: zipSync({ "SKILL.md": main, "/etc/evil": main }),
      hidden: zipSync({ "SKILL.md": main, "__MACOSX/../../evil": main }),
      backslash: zipSync({ "SKILL.md": main, "..\\evil": main }),
      link,
      many: zipSync({ "SKILL.md": main, ...many }),
      bomb: zipSync({ "SKILL.md": main, "zeros.bin": new Uint8Array(60_000_000) }),
      stray: zipSync({ "a/SKILL.md": main, "b/x.txt": main }),
      none: zipSync({ "readme.txt": main }),
      "no zip": strToU8("hello"),
    };
    for (const [what, bytes] of Object.entries(bad)) {
      const { status, body } = await upload(bytes, "refused");
      expect([what, status, body]).toEqual([
        what,
        expect.toBeOneOf([400, 413]),
        { detail: expect.any(String) },
      ]);
    }
    expect((await call(author, "GET /id/refused")).status).toBe(404);
  });
});

describe("a reply", () => {
  const systemOf = () => JSON.stringify(stage.upstream.requests.at(-1)?.body?.messages?.[0] ?? {});
  const ask = (body: object) => stage.complete({ stream: false, session_id: undefined, ...body });

  beforeAll(async () => {
    const grants = { access_grants: [everybody] };
    await make("tides", { ...grants, files: [{ path: "table.txt", content: base64("high at six") }] });
    await make("private");
    const body = {
      id: "sailor",
      name: "Sailor",
      base_model_id: "alpha",
      params: {},
      meta: { skillIds: ["tides", "private"] },
      access_grants: [everybody],
    };
    const made = await author.call("POST /api/v1/models/create", body);
    expect([made.status, made.text]).toEqual([200, expect.any(String)]);
  });

  it("lists the skills of its model and reads them by view_skill, those of the person alone", async () => {
    const { offered, values } = await runScripted(
      stage,
      [
        { name: "view_skill", args: { name: "Name of tides" } },
        { name: "view_skill", args: { name: "tides", path: "table.txt" } },
        { name: "view_skill", args: { name: "private" } },
        { name: "view_skill", args: { name: "tides", path: "../x" } },
      ],
      { model: "sailor" },
    );
    expect(offered).toContain("view_skill");
    expect(values[0]).toMatchObject({ id: "tides", content: "Text of tides.", files: ["table.txt"] });
    expect(values[1]).toMatchObject({ content: "high at six" });
    expect(JSON.stringify(values.slice(2))).not.toContain("Text of private");
    const system = JSON.stringify(stage.upstream.requests.map(({ body }) => body));
    expect(system).toContain("<available_skills>");
    expect(system).not.toContain("Text of private");
    const plain = await runScripted(stage, [], { model: "alpha" });
    expect(plain.offered).not.toContain("view_skill");
  });

  it("is given the text of what is mentioned, and of all where no tool can read it", async () => {
    await ask({ messages: [{ role: "user", content: "Use <$tides|Tides> and <$private|x>, please" }] });
    expect(systemOf()).toContain("Text of tides.");
    expect(systemOf()).not.toContain("Text of private");
    await ask({
      model: "sailor",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
    });
    expect(systemOf()).toContain("Be brief.");
    expect(systemOf()).toContain("Text of tides.");
    await ask({ skill_ids: ["tides"] });
    expect(systemOf()).toContain("Text of tides.");
    await ask({});
    expect(systemOf()).not.toContain("Text of tides.");
  });
});
