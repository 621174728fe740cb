import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bundle, buildFunctions, bundlesFolder, findReleaseBundles } from '../infra/build-functions.ts';
import { linkBuild } from '../local/build-cache.ts';

const listFile = 'bundles.json';

/** Writes the bundles of all functions into a folder. They are built once for the current sources. */
export async function buildBundles(outdir: string): Promise<readonly Bundle[]> {
  const release = findReleaseBundles();
  if (release) {
    cpSync(bundlesFolder, outdir, { recursive: true });
    return release;
  }
  await linkBuild('bundles', outdir, async (folder) => {
    writeFileSync(join(folder, listFile), JSON.stringify(await buildFunctions(folder)));
  });
  return JSON.parse(readFileSync(join(outdir, listFile), 'utf8')) as readonly Bundle[];
}
