// Synthesizes the template with every deployment option into the folder of CDK_OUTDIR.
import { createStack } from '../testing/create-stack.ts';
import { everyOption } from '../testing/stack-options.ts';

createStack(everyOption).app.synth();
