import type { Plugin } from 'esbuild';

/**
 * Omits response streaming from the middy bundle. No function uses it, and loading Node's web streams takes a seventh of a
 * cold start. A call of an omitted function throws.
 */
export const omitStreamingPlugin: Plugin = {
  name: 'without-streaming',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:stream\/(?:web|promises)$/ }, ({ path, importer }) =>
      /[\\/]@middy[\\/]core[\\/]/.test(importer) ? { path, namespace: 'omitted' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'omitted' }, () => ({
      contents: 'export const ReadableStream = undefined; export const pipeline = undefined;',
    }));
  },
};
