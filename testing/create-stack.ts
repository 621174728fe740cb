import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { getStackName, readDeploymentOptions } from '../infra/deployment-options.ts';
import { ServiceStack } from '../infra/service-stack.ts';
import type { Contract } from '../lib/api/contract.ts';
import { createEmptyBundles } from './empty-bundles.ts';

/** The context of `cdk deploy`. */
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> };

/** Creates the stack as `cdk synth -c <option>=<value> …` does. */
export function createStack(
  options: Readonly<Record<string, string>>,
  contracts?: readonly Contract[],
): { readonly app: App; readonly stack: ServiceStack } {
  const app = new App({
    context: { ...context, 'claimcheck:bundles': createEmptyBundles(contracts), ...options },
    // Takes most of the time of a synthesis. `cdk synth` prints its findings as warnings, and the tests do not read
    // them.
    builtinCloudFormationValidation: false,
    // For reports, which the tests do not read.
    stackTraces: false,
    treeMetadata: false,
  });
  const deploymentOptions = readDeploymentOptions(app.node);
  const stack = new ServiceStack(app, getStackName(deploymentOptions), {
    options: deploymentOptions,
    ...(contracts && { contracts }),
  });
  return { app, stack };
}
