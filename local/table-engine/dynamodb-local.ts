import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findFreePort } from '../free-port.ts';
import { startupError } from '../startup-error.ts';
import { describeOutput, startEngineProcess } from './engine-process.ts';
import { findOnPath, isExecutable, toFileName } from './find-executable.ts';
import type { TableEngine, TableEngineOptions } from './table-engine.ts';

const require = createRequire(import.meta.url);

/** Found on the PATH without `JAVA_HOME`. */
const javaCommand = 'java';

/** Folder of the data in the data folder of the service. */
export const dynamoDbLocalFolder = 'dynamodb';

/** Starts DynamoDB Local, which needs Java. It deletes expired items without a request. */
export async function startDynamoDbLocal({ directory }: TableEngineOptions = {}): Promise<TableEngine> {
  const port = await findFreePort();
  const folder = directory === undefined ? undefined : join(directory, dynamoDbLocalFolder);
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  return await startEngineProcess({
    port,
    command: getJavaCommand(),
    commandArguments: buildJavaArguments(port, folder),
    // DynamoDB Local writes a metadata file into its working directory.
    cwd: folder ?? tmpdir(),
    explainFailure,
  });
}

/** Throws a `StartupError` without Java, without starting it. */
export function assertJavaInstalled(): void {
  const command = getJavaCommand();
  const isInstalled = command === javaCommand ? findOnPath(command) : isExecutable(command);
  if (!isInstalled) throw startupError(explainFailure('ENOENT'));
}

function getJavaCommand(): string {
  const { JAVA_HOME } = process.env;
  return JAVA_HOME ? join(JAVA_HOME, 'bin', toFileName(javaCommand)) : javaCommand;
}

function buildJavaArguments(port: number, folder: string | undefined): string[] {
  const emulator = join(dirname(require.resolve('amplify-dynamodb-simulator/package.json')), 'emulator');
  return [
    // Only the first compiler and a serial collector: starts a third faster and uses one core.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    `-Djava.library.path=${join(emulator, 'DynamoDBLocal_lib')}`,
    '-jar',
    join(emulator, 'DynamoDBLocal.jar'),
    '-disableTelemetry',
    '-sharedDb',
    '-port',
    String(port),
    ...(folder === undefined ? ['-inMemory'] : ['-dbPath', '.']),
  ];
}

function explainFailure(output: string): string {
  const problem = /UnsupportedClassVersionError/.test(output)
    ? 'the installed Java is older'
    : /ENOENT|Unable to locate a Java/.test(output)
      ? 'Java is not installed'
      : `the start failed: ${describeOutput(output)}`;
  return `DynamoDB Local requires Java 11 or later: ${problem}. Install Java (https://adoptium.net) or Dynoxide (https://github.com/nubo-db/dynoxide), or set DYNAMODB_ENDPOINT to a running DynamoDB Local, for example in Docker.`;
}
