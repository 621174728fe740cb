import vm from 'node:vm';

/** Compiled code by file. A worker loads most files again for each suite. */
const compiled = new Map();

/** On Node 20, cached code has lost the callback for `import()`. */
const isCacheable = (source) => !/\bimport\s*\(/.test(source);

/** Keeps the code that V8 compiles for the later suites of this process: compilation takes a third of an import. */
export function cacheCompiledCode() {
  const { SourceTextModule, compileFunction } = vm;
  const find = (file, source) => (compiled.get(file)?.source === source ? compiled.get(file).cachedData : undefined);
  vm.SourceTextModule = class extends SourceTextModule {
    constructor(source, options) {
      const cachedData = find(options.identifier, source);
      super(source, { ...options, ...(cachedData && { cachedData }) });
      if (!cachedData && isCacheable(source))
        compiled.set(options.identifier, { source, cachedData: this.createCachedData() });
    }
  };
  vm.compileFunction = (source, params, options) => {
    const cachedData = find(options.filename, source);
    const produceCachedData = !cachedData && isCacheable(source);
    const result = compileFunction(source, params, { ...options, cachedData, produceCachedData });
    if (produceCachedData) compiled.set(options.filename, { source, cachedData: result.cachedData });
    return result;
  };
}
