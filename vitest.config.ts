import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{config,storage,kernel,plugins,test,scripts,bench}/**/*.test.ts"],
    exclude: ["**/node_modules/**"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    execArgv: ["--no-node-snapshot"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
