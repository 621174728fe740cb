import { isAbsolute, join } from 'node:path';
import { rolldown } from 'rolldown';
import { keepModuleUrls } from '../infra/keep-module-urls.ts';
import { projectFolder } from '../infra/project-folder.ts';

/*
 * Bundles the programs of `npm start` without their packages, as `<name>.mjs` in the folder of the argument: the
 * service, and the build of its functions and stack. They run on this machine only.
 */

const [outdir = ''] = process.argv.slice(2);
const build = await rolldown({
  cwd: projectFolder,
  input: Object.fromEntries(
    ['run-service', 'build-service'].map((name) => [name, join(projectFolder, 'local', `${name}.ts`)]),
  ),
  platform: 'node',
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
  plugins: [keepModuleUrls],
  transform: { target: 'node20' },
});
await build.write({ dir: outdir, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
await build.close();
