// Synthesizes the template with every deployment option into the folder of CDK_OUTDIR.
import { createStack, everyOption } from '../test/infra/stack-fixture.ts';

createStack(everyOption).app.synth();
