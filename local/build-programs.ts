import { isAbsolute, join } from 'node:path';
import { rolldown } from 'rolldown';
import { keepModuleUrls } from '../infra/keep-module-urls.ts';
import { projectFolder } from '../infra/project-folder.ts';

/** Bundles the program of `npm start` without its packages, as `run-service.mjs`. It runs on this machine only. */
export async function buildProgram(outdir: string): Promise<void> {
  const build = await rolldown({
    cwd: projectFolder,
    input: { 'run-service': join(projectFolder, 'local', 'run-service.ts') },
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    plugins: [keepModuleUrls],
    transform: { target: 'node20' },
  });
  await build.write({ dir: outdir, format: 'esm', entryFileNames: '[name].mjs', codeSplitting: false });
  await build.close();
}
