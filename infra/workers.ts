import type { Construct } from 'constructs';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import { CodeStack } from './code-stack.ts';
import { getCounterParts } from './deployment-options.ts';
import { acknowledgeExports, buildExportStatements } from './export-statements.ts';
import { buildEnvironment, grantPermissions, type SharedResources } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';
import { exportWorker, selectWorkers, sendsToOwnQueue, type WorkerDefinition } from './worker-definitions.ts';

/** The functions that run on queues, streams and schedules. triggers.ts connects them. */
export class Workers extends CodeStack {
  /** Functions by worker id. */
  readonly functions: ReadonlyMap<string, ServiceFunction>;

  constructor(scope: Construct, id: string, resources: SharedResources) {
    super(scope, id, 'functions of the workers');
    const workers = selectWorkers(resources.exportLocations);
    this.functions = new Map(workers.map((worker) => [worker.id, this.createFunction(worker, resources)]));
    const exporter = this.functions.get(exportWorker.id);
    if (exporter) grantExports(exporter, resources.exportLocations);
  }

  private createFunction(worker: WorkerDefinition, resources: SharedResources): ServiceFunction {
    const { id, summary, permissions, writtenKeys, timeoutSeconds, memoryMb, source } = worker;
    const serviceFunction = new ServiceFunction(this, id, {
      bundle: `workers/${id}`,
      description: summary,
      timeoutSeconds,
      memoryMb,
      environment: {
        ...buildEnvironment(permissions, resources),
        ...('streamPatterns' in source && { STREAM_FAILURES_QUEUE_URL: resources.queues.streamFailures.queueUrl }),
        ...(id === 'aggregate-statistics' && omitUndefined({ COUNTER_PARTS: getCounterParts(this.node) })),
      },
      allowsRecursion: sendsToOwnQueue(worker),
      readsStream: 'streamPatterns' in source,
      hasVersion: resources.hasAliases,
    });
    const { handler } = serviceFunction;
    grantPermissions(handler, permissions, { ...resources, writtenKeys });
    const { table, queues } = resources;
    if ('queue' in source) queues.queues[source.queue].queue.grantConsumeMessages(handler);
    if ('streamPatterns' in source) {
      table.grantStreamRead(handler);
      queues.streamFailures.grantSendMessages(handler);
    }
    return serviceFunction;
  }
}

function grantExports({ handler }: ServiceFunction, locations: readonly string[] | undefined): void {
  for (const statement of buildExportStatements(handler, locations)) handler.addToRolePolicy(statement);
  if (handler.role) acknowledgeExports(handler.role, locations);
}
