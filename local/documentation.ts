import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { projectFolder } from '../infra/project-folder.ts';
import { listSiteSources } from '../infra/site/site-sources.ts';
import { computeDigest } from '../infra/source-digest.ts';
import { linkBuild } from './build-cache.ts';
import { runBuild } from './run-build.ts';
import type { Closable } from './shutdown.ts';

/**
 * Builds the documentation while the service runs, unless the cache has it. The function that serves `folder` finds
 * all of it or nothing. Reports a failure to `log`: the service does not depend on the documentation.
 */
export function startDocumentationBuild(folder: string, log: (text: string) => void): Closable {
  const build = async (): Promise<void> => {
    // The service is ready, and says so first.
    await setImmediate();
    const draft = `${folder}.draft`;
    const name = `site-${computeDigest(projectFolder, listSiteSources()).slice(0, 12)}`;
    await linkBuild(name, draft, async (target) => {
      await runBuild('--import', 'tsx', join(projectFolder, 'infra', 'site', 'build-site.ts'), target);
    });
    renameSync(draft, folder);
  };
  const building = build().catch((error: unknown) => log(`The documentation at /docs is unavailable. ${error}\n`));
  return { close: async () => await building };
}
