import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Compiles `function-worker.ts` into a file, because worker threads start without a TypeScript loader. */
export async function compileWorker(outfile: string): Promise<void> {
  const source = fileURLToPath(new URL('./function-worker.ts', import.meta.url));
  await build({ entryPoints: [source], outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' });
}
