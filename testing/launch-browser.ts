import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const cacheFolder = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
const packageFile = new URL('../node_modules/@sparticuz/chromium/package.json', import.meta.url);

/**
 * Starts a browser: the one in the environment variable `CHROME`, the Chromium of the npm package `@sparticuz/chromium`
 * on Linux, and an installed Chrome on other systems.
 */
export async function launchBrowser(): Promise<Browser> {
  const { CHROME: executablePath } = process.env;
  if (executablePath) return await chromium.launch({ executablePath });
  if (process.platform !== 'linux') return await chromium.launch({ channel: 'chrome' });
  return await chromium.launch({
    executablePath: await extractChromium(),
    // One process for all tabs: a new one per tab loads the same scripts again.
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none', '--process-per-site'],
  });
}

const extraction = "import packed from '@sparticuz/chromium'; await packed.executablePath();";

/** Extracts the Chromium of the npm package once. Concurrent processes extract to separate folders. */
async function extractChromium(): Promise<string> {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { readonly version: string };
  const folder = join(cacheFolder, `chromium-${version}`);
  if (existsSync(folder)) return join(folder, 'chromium');
  await mkdir(cacheFolder, { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  // The package extracts into the folder for temporary files, which a process reads from its own environment.
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', extraction], {
    cwd: dirname(cacheFolder),
    env: { ...process.env, TMPDIR: draft },
  });
  await rename(draft, folder).catch(async () => await rm(draft, { recursive: true }));
  return join(folder, 'chromium');
}
