import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { getStackName, readDeploymentOptions } from '../../infra/deployment-options.ts';
import { ServiceStack } from '../../infra/service-stack.ts';
import { createEmptyBundles } from '../../testing/empty-bundles.ts';

/** The context of `cdk deploy`. */
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> };

const account = '123456789012';
/** A value of each deployment option. */
export const everyOption = {
  stage: 'production',
  domainName: 'purchases.example.com',
  certificateArn: `arn:aws:acm:eu-west-1:${account}:certificate/4711`,
  basePath: 'claimcheck',
  alarmEmail: 'operator@example.com',
  waf: 'true',
  tableName: 'Claimcheck-restored',
  masterKeyArn: `arn:aws:secretsmanager:eu-west-1:${account}:secret:MasterKey-AbCdEf`,
  maxConcurrency: '5',
  backup: 'true',
  monthlyBudgetUsd: '200',
  canary: 'true',
};

/**
 * Creates the app of `cdk synth -c <option>=<value> …` without the CDK's validation of the template, which takes most
 * of the time of a synthesis: `cdk synth` prints its findings as warnings, and the tests do not read them.
 */
export const createCdkApp = (options: Readonly<Record<string, string>> = {}): App =>
  new App({
    context: { ...context, 'claimcheck:bundles': createEmptyBundles(), ...options },
    builtinCloudFormationValidation: false,
  });

/** Creates the stack as `cdk synth -c <option>=<value> …` does. */
export function createStack(options: Readonly<Record<string, string>>): { app: App; stack: ServiceStack } {
  const app = createCdkApp(options);
  const deploymentOptions = readDeploymentOptions(app.node);
  return { app, stack: new ServiceStack(app, getStackName(deploymentOptions), { options: deploymentOptions }) };
}
