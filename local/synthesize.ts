import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { DeploymentOptions } from '../infra/deployment-options.ts';
import type { StoreEmulatorConfig } from '../infra/permissions.ts';
import { Template } from './template.ts';

const CdkJson = v.pipe(v.string(), v.parseJson(), v.object({ context: v.record(v.string(), v.unknown()) }));

/** The synthesized stack: its template and the code of its functions. */
export interface Assembly {
  readonly template: Template;
  /** Returns the folder of a function's code from its `S3Key`. */
  readonly codeFolder: (s3Key: string) => string;
}

interface SynthesisInput {
  readonly emulator: StoreEmulatorConfig;
  readonly options: DeploymentOptions;
}

/** Bundles the functions and synthesizes the stack, like `cdk synth`, into the given folder. */
export async function synthesize(folder: string, { emulator, options }: SynthesisInput): Promise<Assembly> {
  const bundles = join(folder, 'bundles');
  const outdir = join(folder, 'assembly');
  await mkdir(bundles, { recursive: true });
  // Imported late, so that the emulator and the database start before the CDK is loaded.
  const [{ App }, { ServiceStack }, { buildFunctions }] = await Promise.all([
    import('aws-cdk-lib'),
    import('../infra/service-stack.ts'),
    import('../infra/build-functions.ts'),
  ]);
  await buildFunctions(bundles);
  const { context } = v.parse(CdkJson, await readFile(new URL('../cdk.json', import.meta.url), 'utf8'));
  const app = new App({ outdir, context: { ...context, bundles } });
  const { artifactId } = new ServiceStack(app, 'Claimcheck', { emulator, options });
  return {
    template: v.parse(Template, app.synth().getStackArtifact(artifactId).template),
    codeFolder: (s3Key) => join(outdir, `asset.${s3Key.replace(/\.zip$/, '')}`),
  };
}
