import { App } from 'aws-cdk-lib';
import { buildFunctions } from './build-functions.ts';
import { ServiceStack } from './service-stack.ts';

await buildFunctions();
const app = new App();
new ServiceStack(app, 'Claimcheck');
app.synth();
