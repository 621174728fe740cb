import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { contracts } from '../lib/contracts/index.ts';
import { buildOpenApiDocument } from './openapi.ts';
import { projectFolder } from './project-folder.ts';
import { renderLlmsText } from './render-llms-text.ts';

const entryPoint = 'console/main.tsx';

/**
 * Oldest browsers that support every feature of the console, among others `light-dark()` and `AbortSignal.any`.
 * `docs/console.md` names them.
 *
 * @see https://web-platform-dx.github.io/web-features-explorer/features/light-dark
 * @see https://web-platform-dx.github.io/web-features-explorer/features/abortsignal-any
 */
const targets = ['es2022', 'chrome123', 'firefox128', 'safari17.5'];

/**
 * Bundles the console: the page, scripts and styles with the hash of their content in the name, the API document, and
 * its overview for language models.
 */
export async function buildConsole(outdir: string): Promise<Metafile> {
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: projectFolder,
    entryPoints: [entryPoint],
    outdir,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: targets,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    metafile: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  writeFileSync(join(outdir, 'index.html'), buildPage(metafile));
  writeApiDocument(outdir);
  return metafile;
}

/** Writes the API document and its overview. */
function writeApiDocument(outdir: string): void {
  const document = buildOpenApiDocument(contracts);
  writeFileSync(join(outdir, 'openapi.json'), JSON.stringify(document));
  writeFileSync(join(outdir, 'llms.txt'), renderLlmsText(document));
}

/** Inserts the names of the assets into the page. Their URLs are relative to `/console`, below any base path. */
function buildPage({ outputs }: Metafile): string {
  const [file, output] = Object.entries(outputs).find(([, { entryPoint: entry }]) => entry === entryPoint) ?? [];
  if (file === undefined || output?.cssBundle === undefined)
    throw new Error(`${entryPoint} has no script or no styles.`);
  const chunks = output.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path);
  const preloads = chunks.map((path) => `<link rel="modulepreload" href="${toUrl(path)}">`);
  return readFileSync(join(projectFolder, 'console', 'index.html'), 'utf8')
    .replace('{styles}', toUrl(output.cssBundle))
    .replace('{script}', toUrl(file))
    .replace('{preloads}', preloads.join('\n    '));
}

const toUrl = (path: string): string => `console/${basename(path)}`;
