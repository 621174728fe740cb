import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import type { AwsAccess } from './checked-aws-calls.ts';
import type { FunctionCode } from './function-thread.ts';
import { createFunctionThreads } from './function-threads.ts';
import type { CallDecision } from './iam-usage.ts';
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
  readonly access: AwsAccess;
  readonly reportsAllCalls: boolean;
  readonly onCall: (call: CallDecision) => void;
  readonly onWrite: () => void;
  readonly log: (text: string) => void;
}

export interface LocalFunctions {
  /** Returns the function of a name, an ARN or an integration URI of API Gateway. Throws for an unknown one. */
  readonly get: (reference: string) => LocalFunction;
  /** Union of the environment variables of all functions. */
  readonly environment: Readonly<Record<string, string>>;
  /** Terminates every instance immediately, like a crash. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Creates the functions of a template. A thread starts with the first invocation that needs it. */
export function createLocalFunctions(
  { template, codeFolder, worker }: Assembly,
  names: TemplateNames,
  { clock, environment, minTimeoutMs = 0, ...runtime }: FunctionRuntime,
): LocalFunctions {
  const resources = [...listResources(template, 'AWS::Lambda::Function', { properties: LambdaFunction, names })];
  const threads = createFunctionThreads({
    ...runtime,
    worker,
    clockOffset: clock.offset,
    functions: new Map(
      resources.map(([id, properties]) => [
        id,
        {
          ...locateCode(properties, codeFolder(properties.Code.S3Key)),
          environment: { ...environment, ...buildEnvironment(id, properties) },
        },
      ]),
    ),
  });
  const byName = new Map(
    resources.map(([name, { Timeout, MemorySize: memoryMb }]) => {
      const timeoutMs = Math.max(Timeout * 1_000, minTimeoutMs);
      return [names.ref(name), createLocalFunction({ name, timeoutMs, memoryMb, threads })] as const;
    }),
  );
  return {
    get: (reference) => {
      const localFunction = byName.get(/[^:/]+(?=\/invocations$|$)/.exec(reference)?.[0] ?? '');
      if (!localFunction) throw new Error(`${reference} is not a function of the template.`);
      return localFunction;
    },
    environment: Object.assign({}, ...resources.map(([, { Environment }]) => Environment.Variables)),
    kill: threads.kill,
    close: threads.kill,
  };
}

/** Splits `area/file.export` into the bundle's URL and the export. */
function locateCode({ Handler }: FunctionProperties, folder: string): Omit<FunctionCode, 'environment'> {
  const dot = Handler.lastIndexOf('.');
  return {
    module: pathToFileURL(join(folder, `${Handler.slice(0, dot)}.mjs`)).href,
    exportName: Handler.slice(dot + 1),
  };
}

const buildEnvironment = (id: string, { Handler, MemorySize, Environment }: FunctionProperties) => ({
  // Identifies the function to the IAM proxy, which is the endpoint of a client without the settings of its container.
  AWS_ACCESS_KEY_ID: id,
  AWS_LAMBDA_FUNCTION_NAME: id,
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
  _HANDLER: Handler,
  ...Environment.Variables,
});
