import { App } from 'aws-cdk-lib';
import { buildRelease } from './build-functions.ts';
import { getStackName, readDeploymentOptions } from './deployment-options.ts';
import { projectFolder } from './project-folder.ts';
import { ServiceStack } from './service-stack.ts';
import { computeSourceDigest } from './source-digest.ts';

await buildRelease();
const app = new App();
const options = readDeploymentOptions(app.node);
new ServiceStack(app, getStackName(options), { options, sourceDigest: computeSourceDigest(projectFolder) });
app.synth();
