import { runProgram, servicePrograms } from '../infra/program.js';

// Before the service loads, which takes a part of a second, or seconds after a change of the sources.
console.log('Starting Claimcheck. Press Ctrl-C to stop.');
await runProgram(servicePrograms);
