import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig, type HtmlTagDescriptor, type Plugin } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const themeScript = "shell/theme.ts";

/** Builds the interface: the shell, the kit, every plugin's `web/` folder and the frames, into `dist/`. */
export default defineConfig({
  root: here("."),
  base: "/",
  publicDir: false,
  plugins: [
    svelte({ configFile: here("svelte.config.js") }),
    tailwindcss(),
    themeBeforePaint(),
    modernFonts(),
  ],
  build: {
    outDir: here("dist"),
    emptyOutDir: true,
    assetsDir: "assets",
    // A data: address in place of a small file would need a wider policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    cssTarget: "chrome120",
    reportCompressedSize: false,
    manifest: true,
    rolldownOptions: { input: [here("index.html"), ...themeScripts(), ...frames()] },
  },
});

/** Documents that the server answers with a sandbox around them. */
function frames(): string[] {
  const folder = here("frames");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => name.endsWith(".html")).map((name) => `${folder}/${name}`);
}

function themeScripts(): string[] {
  return existsSync(here(themeScript)) ? [here(themeScript)] : [];
}

/** Leaves the older formats of KaTeX's fonts out: every browser that runs the interface reads WOFF2. */
function modernFonts(): Plugin {
  return {
    name: "modern-fonts",
    enforce: "pre",
    transform: (code, id) =>
      id.endsWith("/katex.css")
        ? code.replaceAll(/, url\([^)]*\.(?:woff|ttf)\) format\("[a-z]+"\)/g, "")
        : undefined,
  };
}

/** Puts the script of the theme into the head as a classic one, which Vite leaves alone otherwise. */
function themeBeforePaint(): Plugin {
  return {
    name: "theme-before-paint",
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle, path }): HtmlTagDescriptor[] {
        if (path !== "/index.html" || themeScripts().length === 0) {
          return [];
        }
        const chunks = Object.values(bundle ?? {});
        const chunk = chunks.find(
          (one) => one.type === "chunk" && one.facadeModuleId?.endsWith(`/${themeScript}`),
        );
        const attrs = bundle ? { src: `/${chunk?.fileName}` } : { src: `/${themeScript}`, type: "module" };
        return [{ tag: "script", attrs, injectTo: "head-prepend" }];
      },
    },
  };
}
