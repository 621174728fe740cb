import '../lib/foundation/disable-node-version-warning.ts';
import { once } from '../lib/foundation/cache.ts';
import { createContainer, setContainerLookup } from '../lib/foundation/container.ts';
import { addCheckSignal } from '../lib/health/check-signal.ts';
import { exitCodes } from './command-result.ts';
import { runProgram } from './run-program.ts';

// The reader of a pipe may end early, for example `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exit(exitCodes.failed);
});

setContainerLookup(once(() => addCheckSignal(createContainer())));

process.exitCode = await runProgram(process.argv.slice(2), {
  writeOut: (text) => process.stdout.write(text),
  writeErr: (text) => process.stderr.write(text),
  getOutHelpWidth: () => getWidth(process.stdout),
  getErrHelpWidth: () => getWidth(process.stderr),
});

/** Returns the columns of a terminal. Undefined if the stream is not a terminal. */
function getWidth({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  return isTTY ? columns : undefined;
}
