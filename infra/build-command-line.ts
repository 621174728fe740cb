import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { functionInput } from './build-functions.ts';
import { keepModuleUrls } from './keep-module-urls.ts';
import { projectFolder } from './project-folder.ts';

/** Bundles the command line with its packages, as `main.mjs`. It runs on this machine only, next to its sources. */
export async function buildCommandLine(outdir: string): Promise<void> {
  const build = await rolldown({
    ...functionInput,
    input: { main: join(projectFolder, 'cli', 'main.ts') },
    plugins: [keepModuleUrls],
  });
  await build.write({
    dir: outdir,
    format: 'esm',
    minify: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name]-[hash].mjs',
    // Defines `require`, which bundled CommonJS packages need in an ES module.
    banner: `import { createRequire as createBundleRequire } from 'node:module';
const require = createBundleRequire(${JSON.stringify(new URL('../package.json', import.meta.url).href)});`,
    // rolldown does not accept its default, a RegExp, from the context of jest.
    sourcemapIgnoreList: false,
  });
  await build.close();
}

const [, program, outdir] = process.argv;
if (program === fileURLToPath(import.meta.url) && outdir !== undefined) await buildCommandLine(outdir);
