/**
 * A Python with the packages of `python-requirements.txt`: real Jupyter and FastAPI servers run in it. Suites that need
 * it are skipped where `TEST_PYTHON` names none; `.ci/run` makes one.
 */
export const testPython = process.env["TEST_PYTHON"] || undefined;
