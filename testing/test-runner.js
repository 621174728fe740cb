import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cacheCompiledCode } from './cache-compiled-code.js';

cacheCompiledCode();

const require = createRequire(import.meta.url);
const { default: runWithCircus } = require('jest-circus/runner');
/** The part of jest-circus that is loaded for each suite. */
const initializer = join(dirname(require.resolve('jest-circus/package.json')), 'build/jestAdapterInit.js');

/** Has the methods of `AsyncLocalStorage` that jest-circus calls. */
class Variable {
  #value;

  getStore() {
    return this.#value;
  }

  async run(value, callback) {
    const outer = this.#value;
    this.#value = value;
    try {
      return await callback();
    } finally {
      this.#value = outer;
    }
  }
}

/**
 * Runs a suite with jest-circus. Replaces its `AsyncLocalStorage` by a variable: it slows down each promise on Node 20,
 * and serves only tests that run at the same time, which this project does not have.
 */
// biome-ignore lint/style/noDefaultExport: jest loads the default export.
export default async function runSuite(globalConfig, config, environment, runtime, ...others) {
  const { coreModule } = runtime;
  const requireCoreModule = coreModule.require;
  coreModule.require = function (name) {
    return name === 'node:async_hooks' ? { AsyncLocalStorage: Variable } : requireCoreModule.call(this, name);
  };
  runtime.requireInternalModule(initializer);
  coreModule.require = requireCoreModule;
  return await runWithCircus(globalConfig, config, environment, runtime, ...others);
}
