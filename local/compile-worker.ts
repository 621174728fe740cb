import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Compiles `function-worker.ts` into the folder, because worker threads start without a TypeScript loader. */
export async function compileWorker(folder: string): Promise<URL> {
  const source = fileURLToPath(new URL('./function-worker.ts', import.meta.url));
  const outfile = join(folder, 'function-worker.mjs');
  await build({ entryPoints: [source], outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' });
  return pathToFileURL(outfile);
}
