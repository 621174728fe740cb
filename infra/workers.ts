import type { Construct } from 'constructs';
import { CodeStack } from './code-stack.ts';
import { buildEnvironment, grantPermissions, type SharedResources } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';
import { sendsToOwnQueue, type WorkerDefinition, workers } from './worker-definitions.ts';

/** The functions that run on queues, streams and schedules. triggers.ts connects them. */
export class Workers extends CodeStack {
  /** Functions by worker id. */
  readonly functions: ReadonlyMap<string, ServiceFunction>;

  constructor(scope: Construct, id: string, resources: SharedResources) {
    super(scope, id, 'functions of the workers');
    this.functions = new Map(workers.map((worker) => [worker.id, this.createFunction(worker, resources)]));
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
      },
      allowsRecursion: sendsToOwnQueue(worker),
      readsStream: 'streamPatterns' in source,
      hasVersion: resources.hasAliases,
    });
    const { handler } = serviceFunction;
    grantPermissions(handler, permissions, { ...resources, ...(writtenKeys && { writtenKeys }) });
    const { table, queues } = resources;
    if ('queue' in source) queues.queues[source.queue].queue.grantConsumeMessages(handler);
    if ('streamPatterns' in source) {
      table.grantStreamRead(handler);
      queues.streamFailures.grantSendMessages(handler);
    }
    return serviceFunction;
  }
}
