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
  MemorySize: v.number(),
  Code: v.object({ S3Key: v.string() }),
  Environment: v.optional(v.object({ Variables: v.record(v.string(), v.string()) }), { Variables: {} }),
});
type FunctionProperties = v.InferOutput<typeof LambdaFunction>;

interface FunctionRuntime {
  /** The compiled `function-worker.ts`. */
  readonly worker: URL;
  readonly clock: SharedClock;
  /** What the platform adds to the environment of every function. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: (text: string) => void;
}

/** The functions of a template. */
export interface LocalFunctions {
  /** The function that a URI of API Gateway names. Throws when there is none. */
  readonly findByUri: (uri: string) => LocalFunction;
  /** Throws when there is none. */
  readonly getByArn: (arn: string) => LocalFunction;
  /** By the value of `{ Ref: … }`. Throws when there is none. */
  readonly getByName: (name: string) => LocalFunction;
  /** Every variable that the template gives to any function. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends every instance at once, whatever it is doing, as a crash would. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the template's functions callable; none starts before its first call. */
export function createLocalFunctions(
  { template, codeFolder }: Assembly,
  names: TemplateNames,
  platform: FunctionRuntime,
): LocalFunctions {
  const found = listResources(template, 'AWS::Lambda::Function', { properties: LambdaFunction, names });
  const byId = new Map(
    [...found].map(([id, properties]) => {
      const code = locateCode(properties, codeFolder(properties.Code.S3Key));
      return [id, createLocalFunction(buildDefinition(id, properties, { ...platform, code }))] as const;
    }),
  );
  const getByName = createIndex(byId, (id) => names.ref(id));
  const getByArn = createIndex(byId, (id) => names.attribute(id, 'Arn'));
  const endAll = async (): Promise<void> => {
    await Promise.all([...byId.values()].map((localFunction) => localFunction.close()));
  };
  return {
    findByUri: (uri) => getByArn(/\/functions\/(.+)\/invocations$/.exec(uri)?.[1] ?? uri),
    getByArn,
    getByName,
    environment: Object.assign({}, ...[...found.values()].map(({ Environment }) => Environment.Variables)),
    kill: endAll,
    close: endAll,
  };
}

function createIndex(functions: ReadonlyMap<string, LocalFunction>, keyOf: (id: string) => string) {
  const byKey = new Map([...functions].map(([id, localFunction]) => [keyOf(id), localFunction] as const));
  return (key: string): LocalFunction => {
    const one = byKey.get(key);
    if (!one) throw new Error(`The template has no function ${key}.`);
    return one;
  };
}

/** `area/file.export` in the folder of the code. */
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
  { worker, clock, environment, log, code }: FunctionRuntime & { code: { module: string; exportName: string } },
) {
  return {
    name: id,
    environment: {
      ...environment,
      // As a role of its own would: by this it is known to whom it calls.
      AWS_ACCESS_KEY_ID: id,
      AWS_LAMBDA_FUNCTION_NAME: id,
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
      _HANDLER: Handler,
      ...Environment.Variables,
    },
    timeoutMs: Timeout * 1_000,
    memoryMb: MemorySize,
    worker,
    code: { ...code, clockOffset: clock.offset },
    log,
  };
}
