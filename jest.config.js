export default {
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testEnvironment: '<rootDir>/testing/test-environment.js',
  roots: ['<rootDir>/test', '<rootDir>/emulator/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
    // Pages of the console.
    '^.+\\.tsx$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic', importSource: 'preact' } },
        },
        module: { type: 'es6' },
      },
    ],
  },
  globalSetup: '<rootDir>/testing/global-setup.ts',
  globalTeardown: '<rootDir>/testing/global-teardown.ts',
  // Far above any test's duration: a test must not fail because the machine is slow.
  testTimeout: 300_000,
  // More than the cores of a small machine: the slow suites wait for queues, timers and processes a third of their time.
  maxWorkers: 3,
  // Jest keeps the modules of each suite in memory. A worker of 3 GB collects garbage most of the time.
  workerIdleMemoryLimit: '800MB',
  // A worker that the limit has ended after its last suite starts again to receive the end of the run.
  workerGracefulExitTimeout: 30_000,
  // Each line of the log costs a stack trace. A failed test prints its reason; `npm test -- --silent=false` prints the
  // log.
  silent: true,
  testRunner: '<rootDir>/testing/test-runner.js',
  testSequencer: '<rootDir>/testing/slow-tests-first.js',
};
