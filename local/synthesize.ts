import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as v from 'valibot';
import type { DeploymentOptions } from '../infra/deployment-options.ts';
import { findBundle, servicePrograms } from '../infra/program.js';
import { linkBuild } from './build-cache.ts';
import { runBuild } from './run-build.ts';
import { Template } from './template.ts';

/** The synthesized stack: its template and the code of its functions. */
export interface Assembly {
  readonly template: Template;
  /** The compiled `function-thread.ts`. */
  readonly worker: URL;
  /** Returns the folder of a function's code from its `S3Key`. */
  readonly codeFolder: (s3Key: string) => string;
  /** Folder of the documentation, which the function of the console serves. The synthesis does not write it. */
  readonly documentationFolder: string;
}

interface SynthesisInput {
  readonly options: DeploymentOptions;
  /** Called before a build, which happens at the first start and after a change of the sources. */
  readonly onBuild: () => void;
}

export const buildFolders = {
  assembly: 'assembly',
  assets: 'assets',
  functions: 'functions',
  template: 'template.json',
} as const;

/** Bundles the functions and synthesizes the stack, like `cdk synth`, into the given folder. */
export async function synthesize(folder: string, { options, onBuild }: SynthesisInput): Promise<Assembly> {
  await linkBuild('service', folder, async (target) => {
    onBuild();
    await buildService(target);
  });
  if (Object.keys(options).length > 0) await buildService(folder, JSON.stringify(options));
  const template = await readFile(join(folder, buildFolders.template), 'utf8');
  return {
    template: v.parse(v.pipe(v.string(), v.parseJson(), Template), template),
    worker: pathToFileURL(join(folder, buildFolders.functions, 'function-thread.mjs')),
    codeFolder: (s3Key) => join(folder, buildFolders.assembly, `asset.${s3Key.replace(/\.zip$/, '')}`),
    documentationFolder: join(folder, buildFolders.functions, 'console', 'docs'),
  };
}

/** Runs `build-service.ts`, or its bundle if `npm start` has built it. */
async function buildService(folder: string, ...options: readonly string[]): Promise<void> {
  const bundle = join(findBundle(servicePrograms), 'build-service.mjs');
  const source = fileURLToPath(new URL('./build-service.ts', import.meta.url));
  await runBuild(...(existsSync(bundle) ? [bundle] : ['--import', 'tsx', source]), folder, ...options);
}
