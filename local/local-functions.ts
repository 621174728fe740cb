import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import type { TemplateNames } from './intrinsics.ts';
import { createLocalFunction, type LocalFunction } from './local-function.ts';
import type { SharedClock } from './shared-clock.ts';
import type { Assembly } from './synthesize.ts';
import { listResources } from './template.ts';

const LambdaFunction = v.object({
  Handler: v.string(),
  Timeout: v.number(),
  // The custom resources of the CDK have Lambda's default.
  MemorySize: v.optional(v.number(), 128),
  Code: v.object({ S3Key: v.string() }),
  Environment: v.optional(v.object({ Variables: v.record(v.string(), v.string()) }), { Variables: {} }),
});
type FunctionProperties = v.InferOutput<typeof LambdaFunction>;

interface FunctionRuntime {
  readonly clock: SharedClock;
  /** Variables that the platform adds to the environment of every function. */
  readonly environment: Readonly<Record<string, string>>;
  /** Lower bound of the timeout of every function. */
  readonly minTimeoutMs?: number;
  /** An instance without events ends after this time. */
  readonly idleTimeoutMs?: number | undefined;
  /** See `startLocal`. */
  readonly hasLightTableCalls?: boolean | undefined;
  readonly log: (text: string) => void;
}

/** The functions of a template. */
export interface LocalFunctions {
  /** Looks up the function of an API Gateway integration URI. Throws for an unknown one. */
  readonly getByUri: (uri: string) => LocalFunction;
  /** Throws for an unknown ARN. */
  readonly getByArn: (arn: string) => LocalFunction;
  /** `name` is the value of `{ Ref: … }`. Throws for an unknown name. */
  readonly getByName: (name: string) => LocalFunction;
  /** Union of the environment variables of all functions. */
  readonly environment: Readonly<Record<string, string>>;
  /** Terminates every instance immediately, like a crash. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Creates the functions of a template. An instance starts with the first invocation that needs it. */
export function createLocalFunctions(
  { template, codeFolder, worker }: Assembly,
  names: TemplateNames,
  runtime: FunctionRuntime,
): LocalFunctions {
  const resources = listResources(template, 'AWS::Lambda::Function', { properties: LambdaFunction, names });
  const byId = new Map(
    [...resources].map(([id, properties]) => {
      const code = locateCode(properties, codeFolder(properties.Code.S3Key));
      return [id, createLocalFunction(buildDefinition(id, properties, { ...runtime, worker, code }))] as const;
    }),
  );
  const getByName = createIndex(byId, (id) => names.ref(id));
  const getByArn = createIndex(byId, (id) => names.attribute(id, 'Arn'));
  const closeAll = async (): Promise<void> => {
    await Promise.all([...byId.values()].map((localFunction) => localFunction.close()));
  };
  return {
    getByUri: (uri) => getByArn(/\/functions\/(.+)\/invocations$/.exec(uri)?.[1] ?? uri),
    getByArn,
    getByName,
    environment: Object.assign({}, ...[...resources.values()].map(({ Environment }) => Environment.Variables)),
    kill: closeAll,
    close: closeAll,
  };
}

function createIndex(functions: ReadonlyMap<string, LocalFunction>, toKey: (id: string) => string) {
  const byKey = new Map([...functions].map(([id, localFunction]) => [toKey(id), localFunction] as const));
  return (key: string): LocalFunction => {
    const localFunction = byKey.get(key);
    if (!localFunction) throw new Error(`${key} is not a function of the template.`);
    return localFunction;
  };
}

/** Splits `area/file.export` into the bundle's URL and the export. */
function locateCode({ Handler }: FunctionProperties, folder: string): { module: string; exportName: string } {
  const dot = Handler.lastIndexOf('.');
  return {
    module: pathToFileURL(join(folder, `${Handler.slice(0, dot)}.mjs`)).href,
    exportName: Handler.slice(dot + 1),
  };
}

function buildDefinition(
  id: string,
  { Handler, Timeout, MemorySize, Environment }: FunctionProperties,
  {
    worker,
    clock,
    environment,
    minTimeoutMs = 0,
    idleTimeoutMs,
    hasLightTableCalls,
    log,
    code,
  }: FunctionRuntime & { worker: URL; code: { module: string; exportName: string } },
) {
  return {
    name: id,
    environment: {
      ...environment,
      // Identifies the function to the IAM proxy, like a separate role.
      AWS_ACCESS_KEY_ID: id,
      AWS_LAMBDA_FUNCTION_NAME: id,
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
      _HANDLER: Handler,
      ...Environment.Variables,
    },
    timeoutMs: Math.max(Timeout * 1_000, minTimeoutMs),
    memoryMb: MemorySize,
    ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
    worker,
    code: { ...code, clockOffset: clock.offset, hasLightTableCalls },
    log,
  };
}
