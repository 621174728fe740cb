import * as v from 'valibot';
import { parseJson } from '../../lib/foundation/parse.ts';

/**
 * The resources of a deployment that its checks read, from the stack outputs. A name is absent if the stack lacks the
 * output.
 */
export interface Deployment {
  readonly apiUrl?: string;
  readonly tableName?: string;
  /** ARN of the stream that the workers read. */
  readonly streamArn?: string;
  /** Work queues. Empty if an earlier version is deployed. */
  readonly queueArns: readonly string[];
  /** Dead-letter queues by the name of their queue. */
  readonly deadLetterQueueUrls: Readonly<Record<string, string>>;
  readonly streamFailuresQueueUrl?: string;
  readonly alarmTopicArn?: string;
  /** Maximum instances of all queue workers. */
  readonly workerConcurrency?: number;
  readonly sourceDigest?: string;
}

const StackOutputs = v.record(v.string(), v.string());

/**
 * Reads the stack outputs of the connected service from the environment. Undefined for a connection by the names of
 * table and key.
 */
export function readDeployment({ STACK_OUTPUTS: json }: NodeJS.ProcessEnv): Deployment | undefined {
  return json === undefined ? undefined : toDeployment(parseJson(StackOutputs, json));
}

function toDeployment(outputs: v.InferOutput<typeof StackOutputs>): Deployment {
  const {
    ApiUrl: apiUrl,
    TableName: tableName,
    StreamArn: streamArn,
    QueueArns: queueArns = '',
    StreamFailuresQueueUrl: streamFailuresQueueUrl,
    AlarmTopicArn: alarmTopicArn,
    WorkerConcurrency: workerConcurrency,
    SourceDigest: sourceDigest,
  } = outputs;
  const deadLetterQueues = Object.entries(outputs).flatMap(([name, url]) => {
    const [, queue] = /^(\w+)DeadLetterQueueUrl$/.exec(name) ?? [];
    return queue === undefined ? [] : [[queue.toLowerCase(), url] as const];
  });
  return {
    ...(apiUrl && { apiUrl: apiUrl.replace(/\/$/, '') }),
    ...(tableName && { tableName }),
    ...(streamArn && { streamArn }),
    queueArns: queueArns.split(',').filter(Boolean),
    deadLetterQueueUrls: Object.fromEntries(deadLetterQueues),
    ...(streamFailuresQueueUrl && { streamFailuresQueueUrl }),
    ...(alarmTopicArn && { alarmTopicArn }),
    ...(workerConcurrency && { workerConcurrency: Number(workerConcurrency) }),
    ...(sourceDigest && { sourceDigest }),
  };
}
