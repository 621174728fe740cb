import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import * as v from 'valibot';
import { buildConsole } from '../infra/build-console.ts';
import type { DeploymentOptions } from '../infra/deployment-options.ts';
import { projectFolder } from '../infra/project-folder.ts';
import { ServiceStack } from '../infra/service-stack.ts';
import { buildSharedFunctions, writeFunctionAssets } from './build-shared-functions.ts';
import { joinStackTemplates, readStackTemplates } from './nested-stacks.ts';
import { buildFolders } from './synthesize.ts';

const CdkJson = v.pipe(v.string(), v.parseJson(), v.object({ context: v.record(v.string(), v.unknown()) }));

/** Synthesizes the stack, like `cdk synth`. The assets of its functions load the shared build. */
function writeAssembly(folder: string, options: DeploymentOptions): void {
  const { context } = v.parse(CdkJson, readFileSync(join(projectFolder, 'cdk.json'), 'utf8'));
  const assets = join(folder, buildFolders.assets);
  writeFunctionAssets(assets, buildFolders.functions);
  const app = new App({
    outdir: join(folder, buildFolders.assembly),
    context: { ...context, 'claimcheck:bundles': assets },
    // Takes most of the time of a synthesis. `cdk synth` validates the template.
    builtinCloudFormationValidation: false,
  });
  const { artifactId } = new ServiceStack(app, 'Claimcheck', { options });
  const templates = readStackTemplates(app.synth().directory, artifactId);
  writeFileSync(join(folder, buildFolders.template), JSON.stringify(joinStackTemplates(templates)));
  // The assembly has a copy of each asset. Every start copies the output of the build.
  rmSync(assets, { recursive: true });
}

const [folder = '', optionsText] = process.argv.slice(2);
if (optionsText === undefined) {
  const functions = join(folder, buildFolders.functions);
  const building = buildSharedFunctions(functions).then(
    async () => await buildConsole(join(functions, 'console', 'assets')),
  );
  writeAssembly(folder, {});
  await building;
} else {
  // The files come from the cache.
  for (const name of [buildFolders.assembly, buildFolders.template]) rmSync(join(folder, name), { recursive: true });
  writeAssembly(folder, JSON.parse(optionsText) as DeploymentOptions);
}
