import type { Plugin } from 'esbuild';

/**
 * Leaves out of middy what streams answers, which no function of ours does: it would load Node's web streams at every start,
 * a seventh of the time. What is left out throws when it is called.
 */
export const omitStreamingPlugin: Plugin = {
  name: 'without-streaming',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:stream\/(?:web|promises)$/ }, ({ path, importer }) =>
      /[\\/]@middy[\\/]core[\\/]/.test(importer) ? { path, namespace: 'left-out' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'left-out' }, () => ({
      contents: 'export const ReadableStream = undefined; export const pipeline = undefined;',
    }));
  },
};
