import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../free-port.ts';
import { describeOutput, startEngineProcess } from './engine-process.ts';
import { findOnPath, toFileName } from './find-executable.ts';
import type { TableEngine, TableEngineOptions } from './table-engine.ts';
import { chooseTempFolder } from './temp-folder.ts';

const require = createRequire(import.meta.url);

/** Folder of the data in the data folder of the service. */
export const dynoxideFolder = 'dynoxide';

interface DynoxidePlaces {
  /** npm installs an optional dependency only on the platform that it names, so the package can be absent. */
  readonly packageName?: string;
  readonly path?: string | undefined;
}

/**
 * Finds the binary of the installed npm package, or a `dynoxide` on the PATH. Returns undefined if there is neither.
 */
export function findDynoxide({
  packageName = `@dynoxide/${process.platform}-${process.arch}`,
  path = process.env.PATH,
}: DynoxidePlaces = {}): string | undefined {
  return findInPackage(packageName) ?? findOnPath('dynoxide', path);
}

function findInPackage(packageName: string): string | undefined {
  try {
    return require.resolve(`${packageName}/${toFileName('dynoxide')}`);
  } catch {
    return undefined;
  }
}

/**
 * Starts Dynoxide: a native server with SQLite, on the loopback address only.
 * @see https://github.com/nubo-db/dynoxide/blob/main/docs/http-server.md
 */
export async function startDynoxide(binary: string, options: TableEngineOptions = {}): Promise<TableEngine> {
  const { expirationIntervalMs, onExpiration } = options;
  const port = await findFreePort();
  const data = prepareData(options);
  const tools = expirationIntervalMs === undefined ? undefined : await chooseToolServer();
  const engine = await startEngineProcess({
    port,
    command: binary,
    commandArguments: [
      'serve',
      '--port',
      String(port),
      ...(data ? ['--db-path', data.file] : []),
      ...(tools ? ['--mcp', '--mcp-port', String(tools.port)] : []),
    ],
    cwd: tmpdir(),
    ...(data?.temporaryFolder !== undefined && { temporaryFolder: data.temporaryFolder }),
    // The variable keeps the token out of the list of processes.
    env: { ...process.env, ...(tools && { DYNOXIDE_MCP_AUTH_TOKEN: tools.token }) },
    explainFailure: (output) => `Dynoxide (${binary}) failed to start: ${describeOutput(output)}.`,
  });
  const timer =
    tools && setInterval(() => deleteExpiredItems(tools).then(onExpiration, () => {}), expirationIntervalMs);
  timer?.unref();
  return {
    ...engine,
    close: async () => {
      clearInterval(timer);
      await engine.close();
      if (data?.temporaryFolder !== undefined) rmSync(data.temporaryFolder, { recursive: true, force: true });
    },
  };
}

interface EngineData {
  readonly file: string;
  /** Present if the data is temporary. */
  readonly temporaryFolder?: string;
}

/** A database without items, with indexes of the stream records and their retention: see `stream-index.sql`. */
const emptyDatabase = fileURLToPath(new URL('./stream-index.db', import.meta.url));

/** Chooses the file of the data and creates it if it does not exist. Returns undefined for data in memory. */
function prepareData({ directory, hasStreams }: TableEngineOptions): EngineData | undefined {
  if (directory === undefined) {
    if (!hasStreams) return undefined;
    const folder = mkdtempSync(join(chooseTempFolder(), 'claimcheck-table-'));
    const file = join(folder, 'table.db');
    copyFileSync(emptyDatabase, file);
    return { file, temporaryFolder: folder };
  }
  const folder = join(directory, dynoxideFolder);
  const file = join(folder, 'table.db');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(file)) copyFileSync(emptyDatabase, file);
  return { file };
}

/** Address and token of the server that offers Dynoxide's own operations as MCP tools. */
interface ToolServer {
  readonly port: number;
  readonly token: string;
}

const chooseToolServer = async (): Promise<ToolServer> => ({
  port: await findFreePort(),
  token: randomBytes(16).toString('hex'),
});

/**
 * Deletes expired items as DynamoDB does: their stream records name DynamoDB as the user. Dynoxide does this on request
 * only. A failure leaves the items to the next call: DynamoDB guarantees no time for the deletion either.
 */
async function deleteExpiredItems({ port, token }: ToolServer): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'sweep_ttl', arguments: {} },
    }),
  });
  await response.arrayBuffer();
}
