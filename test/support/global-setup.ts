/** Runs once before all suites; what suites share between processes is prepared here. */
export function setup(): void {}
