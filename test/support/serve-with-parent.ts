// The program of a server that a worker's suites share: workers are ended by a signal, after which they end nothing.
process.once("disconnect", () => process.exit(1));
await import("#plugins/serve.ts");
