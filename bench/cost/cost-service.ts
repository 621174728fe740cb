import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBBatchResponse, SQSBatchResponse } from 'aws-lambda';
import type { Template } from '../../local/template.ts';
import { type ApplicationServer, startApplicationServer } from '../../testing/application-server.ts';
import type { TestService } from '../../testing/service.ts';
import type { QueueName, WorkQueues } from '../../testing/work-queues.ts';
import { buildBundles } from '../build-bundles.ts';
import { startMeter } from '../units/meter.ts';
import { withServiceOn, withTableEngine } from '../with-test-service.ts';
import { type CallTarget, type RecordedCall, startCallRecorder } from './call-recorder.ts';
import { createFunctionHost, type FunctionHost, type Invocation } from './function-host.ts';
import { listFunctionSettings, synthesizeTemplate } from './template.ts';

/**
 * The built functions of a deployment, with every call recorded. The table, queues, stores and app server are of this
 * process.
 */
export interface CostService {
  readonly template: Template;
  readonly service: TestService;
  readonly queues: WorkQueues;
  /** URL of an app's server that accepts webhooks. */
  readonly webhookUrl: string;
  readonly host: FunctionHost;
  /** Returns the invocations since the previous `takeInvocations`. */
  takeInvocations(): Invocation[];
  /** Invokes a function and returns its result. */
  invoke(functionName: string, event: unknown): Promise<unknown>;
}

const queueWorkers: Readonly<Record<QueueName, string>> = {
  notifications: 'workers/process-notification',
  refreshes: 'workers/refresh-purchase',
  webhooks: 'workers/send-webhook',
  forwards: 'workers/send-forward',
};

interface CostServiceOptions {
  /** Each call of a function takes this time in addition, so that calls which do not wait for each other overlap. */
  readonly delayMs?: number;
  /** Gives the heap of a function the limit that its memory in the template gives it. */
  readonly limitsHeap?: boolean;
}

/** Builds the functions, starts everything, runs `use` and stops everything. */
export async function withCostService<T>(
  use: (cost: CostService) => Promise<T>,
  options: CostServiceOptions = {},
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-cost-'));
  try {
    const bundles = join(folder, 'functions');
    await buildBundles(bundles);
    const template = await synthesizeTemplate(bundles);
    return await withTableEngine(
      async (tableUrl) => await runService({ bundles, template, tableUrl, ...options }, use),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function runService<T>(
  {
    bundles,
    template,
    tableUrl,
    delayMs = 0,
    limitsHeap = false,
  }: CostServiceOptions & { readonly bundles: string; readonly template: Template; readonly tableUrl: string },
  use: (cost: CostService) => Promise<T>,
): Promise<T> {
  const closables: { close(): unknown }[] = [];
  const add = <C extends { close(): unknown }>(closable: C): C => {
    closables.unshift(closable);
    return closable;
  };
  try {
    const meter = add(await startMeter(tableUrl));
    return await withServiceOn(meter.endpoint, async (service) => {
      const calls: RecordedCall[] = [];
      const record = async (target: CallTarget, url = '') =>
        add(await startCallRecorder(target, url, { onCall: (call) => calls.push(call), delayMs })).url;
      const { startWorkQueues } = await import('../../testing/work-queues.ts');
      const invocations: Invocation[] = [];
      const invoke: CostService['invoke'] = async (functionName, event) => {
        const { result, invocation } = await host.invoke(functionName, event);
        invocations.push(invocation);
        return result;
      };
      const queues = add(
        await startWorkQueues(
          async (name) => async (event) => (await invoke(queueWorkers[name], event)) as SQSBatchResponse,
        ),
      );
      const appServer: ApplicationServer = add(await startApplicationServer());
      const environment = {
        ...process.env,
        AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
        AWS_ENDPOINT_URL_DYNAMODB: await record('table', meter.endpoint),
        AWS_ENDPOINT_URL_SQS: await record('queue', process.env.AWS_ENDPOINT_URL_SQS),
        AWS_ENDPOINT_URL_SECRETS_MANAGER: await record('secret', process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER),
        STORE_EMULATOR_URL: await record('store', service.emulatorUrl),
      };
      const host = add(
        await createFunctionHost({
          bundles,
          environment,
          ...(limitsHeap && { memorySizes: listMemorySizes(template) }),
          takeCalls: () => ({ calls: calls.splice(0), tableCalls: meter.takeCalls() }),
        }),
      );
      const webhookUrl = await record('webhook', appServer.url);
      const takeInvocations = () => invocations.splice(0);
      return await use({ template, service, queues, webhookUrl, host, takeInvocations, invoke });
    });
  } finally {
    for (const closable of closables) await closable.close();
  }
}

const listMemorySizes = (template: Template): ReadonlyMap<string, number> =>
  new Map([...listFunctionSettings(template)].map(([name, { memoryMb }]) => [name, memoryMb]));

/** Throws if a worker reports failed records. */
export function requireNoFailures(functionName: string, result: unknown): void {
  const { batchItemFailures } = result as DynamoDBBatchResponse;
  if (batchItemFailures.length > 0)
    throw new Error(`${functionName} failed to process ${batchItemFailures.length} records.`);
}
