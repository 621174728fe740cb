import { App } from 'aws-cdk-lib';
import { buildRelease } from './build-functions.ts';
import { getStackName, readDeploymentOptions } from './deployment-options.ts';
import { ServiceStack } from './service-stack.ts';

await buildRelease();
const app = new App();
const options = readDeploymentOptions(app.node);
new ServiceStack(app, getStackName(options), { options });
app.synth();
