import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { projectFolder } from '../infra/project-folder.ts';

/** Keeps the URL of each source, because modules find other files of the project and their packages by it. */
const keepModuleUrls: Plugin = {
  name: 'keep-module-urls',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return undefined;
    return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
  },
};

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
