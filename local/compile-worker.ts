import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';

/** Compiles `function-worker.ts` into the folder, because worker threads start without a TypeScript loader. */
export async function compileWorker(folder: string): Promise<URL> {
  const source = await readFile(new URL('./function-worker.ts', import.meta.url), 'utf8');
  const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'node20' });
  const file = join(folder, 'function-worker.mjs');
  await writeFile(file, code);
  return pathToFileURL(file);
}
