import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { listFunctions } from '../../infra/build-functions.ts';
import { joinStackTemplates, readStackTemplates } from '../../local/nested-stacks.ts';
import { Template } from '../../local/template.ts';

const CdkJson = v.pipe(v.string(), v.parseJson(), v.object({ context: v.record(v.string(), v.unknown()) }));

/** Synthesizes the stack of a deployment without options, with the code in the folder `bundles`. */
export async function synthesizeTemplate(bundles: string): Promise<Template> {
  const [{ App }, { ServiceStack }] = await Promise.all([
    import('aws-cdk-lib'),
    import('../../infra/service-stack.ts'),
  ]);
  const outdir = await mkdtemp(join(tmpdir(), 'claimcheck-assembly-'));
  try {
    const { context } = v.parse(CdkJson, await readFile(new URL('../../cdk.json', import.meta.url), 'utf8'));
    // Without copies of the code of each function.
    const assets = { 'aws:cdk:disable-asset-staging': true };
    const app = new App({
      outdir,
      context: { ...context, 'claimcheck:bundles': bundles, ...assets },
      // Its findings are warnings, and it takes most of the time.
      builtinCloudFormationValidation: false,
    });
    const { artifactId } = new ServiceStack(app, 'Claimcheck');
    return nameHandlers(joinStackTemplates(readStackTemplates(app.synth().directory, artifactId)));
  } finally {
    await rm(outdir, { recursive: true });
  }
}

const FunctionResource = v.object({
  Type: v.literal('AWS::Lambda::Function'),
  Properties: v.looseObject({ Handler: v.string() }),
});

/** Adds the area to the handler of each function of the service: `<area>/<file>.handler`. */
export function nameHandlers({ Resources }: { readonly Resources: Readonly<Record<string, unknown>> }): Template {
  const names = new Map(listFunctions().map((name) => [`${basename(name)}.handler`, `${name}.handler`]));
  const named = Object.entries(Resources).map(([id, resource]) => {
    const { success, output } = v.safeParse(FunctionResource, resource);
    const Handler = success ? names.get(output.Properties.Handler) : undefined;
    return success && Handler ? [id, { ...output, Properties: { ...output.Properties, Handler } }] : [id, resource];
  });
  return v.parse(Template, { Resources: Object.fromEntries(named) });
}

const FunctionProperties = v.object({
  Handler: v.string(),
  MemorySize: v.number(),
  Architectures: v.tuple([v.literal('arm64')]),
  LoggingConfig: v.object({
    LogFormat: v.literal('JSON'),
    SystemLogLevel: v.optional(v.picklist(['DEBUG', 'INFO', 'WARN']), 'INFO'),
  }),
  Environment: v.object({ Variables: v.record(v.string(), v.unknown()) }),
});

/** The properties of a function that its costs depend on. */
export interface FunctionSettings {
  readonly memoryMb: number;
  readonly systemLogLevel: 'DEBUG' | 'INFO' | 'WARN';
  readonly readsSecret: boolean;
}

/** Lists the functions by `<area>/<file>`. Several functions of one file have the same settings. */
export function listFunctionSettings(template: Template): ReadonlyMap<string, FunctionSettings> {
  return new Map(
    listProperties(template, 'AWS::Lambda::Function', FunctionProperties).map((properties) => [
      toFunctionName(properties),
      {
        memoryMb: properties.MemorySize,
        systemLogLevel: properties.LoggingConfig.SystemLogLevel,
        readsSecret: 'MASTER_KEY_ID' in properties.Environment.Variables,
      },
    ]),
  );
}

const StreamMapping = v.object({
  BatchSize: v.number(),
  FilterCriteria: v.object({}),
  FunctionName: v.object({ Ref: v.string() }),
  MaximumBatchingWindowInSeconds: v.optional(v.number(), 0),
});

/** Batches of a worker that reads the stream of the table. */
export interface StreamSettings {
  /** Records. */
  readonly batchSize: number;
  readonly batchingWindowMs: number;
}

/** Lists the stream workers by `<area>/<file>`. */
export function listStreamSettings(template: Template): ReadonlyMap<string, StreamSettings> {
  const mappings = Object.values(template.Resources)
    .filter(({ Type }) => Type === 'AWS::Lambda::EventSourceMapping')
    .map(({ Properties }) => v.safeParse(StreamMapping, Properties))
    .flatMap(({ success, output }) => (success ? [output] : []));
  return new Map(
    mappings.map(({ BatchSize, FunctionName, MaximumBatchingWindowInSeconds }) => [
      toFunctionName(v.parse(v.object({ Handler: v.string() }), template.Resources[FunctionName.Ref]?.Properties)),
      { batchSize: BatchSize, batchingWindowMs: MaximumBatchingWindowInSeconds * 1000 },
    ]),
  );
}

const toFunctionName = ({ Handler }: { readonly Handler: string }): string => Handler.replace(/\.\w+$/, '');

const StageProperties = v.object({
  AccessLogSetting: v.object({ Format: v.string() }),
  TracingEnabled: v.literal(false),
});

export function getAccessLogFormat(template: Template): string {
  const [stage] = listProperties(template, 'AWS::ApiGateway::Stage', StageProperties);
  if (!stage) throw new Error('The template has no stage with an access log.');
  return stage.AccessLogSetting.Format;
}

/** Parses the properties of all resources of a type. Unlike `listResources`, it does not resolve references. */
const listProperties = <S extends v.GenericSchema>(
  { Resources }: Template,
  type: string,
  schema: S,
): v.InferOutput<S>[] =>
  Object.values(Resources)
    .filter((resource) => resource.Type === type)
    .map(({ Properties }) => v.parse(schema, Properties));
