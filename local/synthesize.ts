import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import type { DeploymentOptions } from '../infra/deployment-options.ts';
import type { StoreEmulatorConfig } from '../infra/permissions.ts';
import { copyBuild } from './build-cache.ts';
import { compileWorker } from './compile-worker.ts';
import { Template } from './template.ts';

const CdkJson = v.pipe(v.string(), v.parseJson(), v.object({ context: v.record(v.string(), v.unknown()) }));

/** The synthesized stack: its template and the code of its functions. */
export interface Assembly {
  readonly template: Template;
  /** The compiled `function-worker.ts`. */
  readonly worker: URL;
  /** Returns the folder of a function's code from its `S3Key`. */
  readonly codeFolder: (s3Key: string) => string;
}

interface SynthesisInput {
  readonly emulator: StoreEmulatorConfig;
  readonly options: DeploymentOptions;
}

/** Values that differ in each run. The synthesized template has these names in their place. */
const placeholders: StoreEmulatorConfig = { url: '{emulator.url}', rootCertificate: '{emulator.rootCertificate}' };

/** Bundles the functions and synthesizes the stack, like `cdk synth`, into the given folder. */
export async function synthesize(folder: string, { emulator, options }: SynthesisInput): Promise<Assembly> {
  await copyBuild('service', folder, buildAssembly);
  if (Object.keys(options).length > 0) await writeAssembly(folder, options);
  const template = await readFile(join(folder, templateFile), 'utf8');
  const outdir = join(folder, assemblyFolder);
  return {
    template: v.parse(v.pipe(v.string(), v.parseJson(), Template), fillIn(template, emulator)),
    worker: pathToFileURL(join(folder, workerFile)),
    codeFolder: (s3Key) => join(outdir, `asset.${s3Key.replace(/\.zip$/, '')}`),
  };
}

const bundlesFolder = 'bundles';
const assemblyFolder = 'assembly';
const templateFile = 'template.json';
const workerFile = 'function-worker.mjs';

async function buildAssembly(folder: string): Promise<void> {
  const { buildService } = await import('../infra/build-functions.ts');
  await buildService(join(folder, bundlesFolder));
  await compileWorker(join(folder, workerFile));
  await writeAssembly(folder, {});
}

/** Synthesizes the stack from the bundles in the folder. */
async function writeAssembly(folder: string, options: DeploymentOptions): Promise<void> {
  // Imported late: the CDK takes seconds to load, and most starts find a synthesized stack.
  const [{ App }, { ServiceStack }] = await Promise.all([import('aws-cdk-lib'), import('../infra/service-stack.ts')]);
  const { context } = v.parse(CdkJson, await readFile(new URL('../cdk.json', import.meta.url), 'utf8'));
  const outdir = join(folder, assemblyFolder);
  const app = new App({
    outdir,
    context: { ...context, 'claimcheck:bundles': join(folder, bundlesFolder) },
    // Takes most of the time of a synthesis. `cdk synth` validates the template.
    builtinCloudFormationValidation: false,
  });
  const { artifactId } = new ServiceStack(app, 'Claimcheck', { emulator: placeholders, options });
  await writeFile(join(folder, templateFile), JSON.stringify(app.synth().getStackArtifact(artifactId).template));
}

function fillIn(template: string, { url, rootCertificate }: StoreEmulatorConfig): string {
  const toText = (value: string): string => JSON.stringify(value).slice(1, -1);
  return template
    .replaceAll(placeholders.url, toText(url))
    .replaceAll(placeholders.rootCertificate, toText(rootCertificate));
}
