import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const dockerfile = readFileSync(new URL("../Dockerfile", import.meta.url), "utf8");
/** The step that makes the image slim, as the shell of the image runs it. */
const step = /if \[ "\$USE_SLIM_DOCKER" = true \].*?; fi/s.exec(dockerfile)?.[0] ?? "";

test("the image takes its slimness and its commit as build arguments, and tells the platform", () => {
  for (const name of ["USE_SLIM_DOCKER", "WEBUI_BUILD_HASH"]) {
    expect(dockerfile).toMatch(new RegExp(`^ARG ${name}=`, "m"));
    expect(dockerfile).toContain(`${name}=\${${name}}`);
  }
});

test("only the slim image leaves the optional parts out, and each is a part that there is", () => {
  const parts = [...step.matchAll(/node_modules\/[\w@/-]+/g)].map(([part]) => part);
  expect(parts.length).toBeGreaterThan(0);
  const folder = mkdtempSync(join(tmpdir(), "image-"));
  const leftBy = (slim: string) => {
    parts.forEach((part) => mkdirSync(join(folder, part), { recursive: true }));
    execFileSync("/bin/sh", ["-c", step], {
      cwd: folder,
      env: { USE_SLIM_DOCKER: slim, PATH: "/bin:/usr/bin" },
    });
    return parts.filter((part) => existsSync(join(folder, part)));
  };
  expect(leftBy("false")).toEqual(parts);
  expect(leftBy("true")).toEqual([]);
  rmSync(folder, { recursive: true });
  const root = new URL("../", import.meta.url);
  expect(parts.filter((part) => !existsSync(new URL(part, root)))).toEqual([]);
});

test("the image works for any user of group 0, as OpenShift starts it", () => {
  const [, uid, gid] = /^USER (\d+):(\d+)$/m.exec(dockerfile) ?? [];
  expect([Number(uid) > 0, gid]).toEqual([true, "0"]);
  const made = /^RUN (mkdir -p \/app\/data.*)$/m.exec(dockerfile)?.[1] ?? "";
  expect(made).toContain("chgrp 0 /app/data");
  const folder = mkdtempSync(join(tmpdir(), "image-"));
  // The group of the folder is that of who runs the test; its rights are what the step gives.
  const step = made
    .replaceAll("/app/data", join(folder, "data"))
    .replace("chgrp 0", `chgrp ${process.getgid?.()}`);
  execFileSync("/bin/sh", ["-c", step]);
  const { mode } = statSync(join(folder, "data"));
  rmSync(folder, { recursive: true });
  expect((mode >> 3) & 7).toBe((mode >> 6) & 7);
  expect(mode & 7).toBe(0);
});

test("a container counts as healthy when it is ready, not merely when it runs", () => {
  const [, command = ""] = /^HEALTHCHECK [\s\S]*?CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  expect(JSON.parse(command)[2]).toContain("/ready");
});
