import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { functionInput, listFunctions } from '../infra/build-functions.ts';
import { projectFolder } from '../infra/project-folder.ts';

export const workerFile = 'local/function-thread.ts';

/**
 * Bundles all functions in one build with common chunks, as `<area>/<function>.mjs`, and `function-thread.ts`, because
 * threads start without a TypeScript loader. A deployment has one minified bundle for each function, which takes
 * twenty times as long to build.
 */
export async function buildSharedFunctions(outdir: string): Promise<void> {
  await bundleTogether([workerFile, ...listFunctions().map((name) => `functions/${name}.ts`)], outdir);
}

/** Bundles files of the project with common chunks. An output has the path of its source within its top folder. */
export async function bundleTogether(files: readonly string[], outdir: string): Promise<void> {
  const toName = (file: string): string => file.replace(/^[^/]+\//, '').replace(/\.ts$/, '');
  const input = Object.fromEntries(files.map((file) => [toName(file), join(projectFolder, file)]));
  const build = await rolldown({ ...functionInput, input });
  await build.write({
    dir: outdir,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name]-[hash].mjs',
    // rolldown does not accept its default, a RegExp, from the context of jest.
    sourcemapIgnoreList: false,
  });
  await build.close();
}

/**
 * Writes a folder for each function, which the synthesis of the stack takes as its code. It loads the function from the
 * shared build in `functionsFolder`, which is next to the folder of the assembly.
 */
export function writeFunctionAssets(outdir: string, functionsFolder: string): void {
  for (const name of listFunctions()) {
    const folder = join(outdir, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${basename(name)}.mjs`), `export * from '../../${functionsFolder}/${name}.mjs';\n`);
  }
}
